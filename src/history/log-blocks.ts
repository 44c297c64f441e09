import { decodeStored, type SideDatabase } from "../db/side/side-database.ts";
import { statement } from "../db/side/statement.ts";

/** The levels of kept lines. */
export type LogLevel = "info" | "warn" | "error";
const RANKS: Readonly<Record<string, number>> = { info: 0, warn: 1, error: 2, fatal: 2 };

export interface LogLine {
  readonly atMs: number;
  readonly level: string;
  /** The thread that logged it. */
  readonly thread: string;
  readonly message: string;
  /** The other fields as JSON; empty if there are none. */
  readonly fields: string;
}

/** A line with its number, which increases by one per line. */
export interface NumberedLine extends LogLine {
  readonly id: number;
}

export interface LogSearch {
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The lowest level. */
  readonly level: LogLevel;
  /** Words that must all be in the message, a field or the name of the thread. */
  readonly words: readonly string[];
  /** Only lines with lower numbers. */
  readonly before: number;
  readonly limit: number;
}

const BLOCK_LINES = 5_000;
const LEVEL = 9;
const HOUR_MS = 3_600_000;

interface BlockRow {
  readonly id: number;
  readonly lastId: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly worst: number;
  readonly lines: number;
}

const ADD = statement<
  never,
  [id: number, lastId: number, fromMs: number, toMs: number, worst: number, lines: number, body: Uint8Array]
>(
  "history-log.add",
  "INSERT INTO log_blocks (id, last_id, from_ms, to_ms, worst, lines, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
);
const NEWEST = statement<{ lastId: number }>(
  "history-log.newest",
  "SELECT last_id AS lastId FROM log_blocks ORDER BY id DESC LIMIT 1",
);
const OLDEST = statement<{ id: number; fromMs: number }>(
  "history-log.oldest",
  "SELECT id, from_ms AS fromMs FROM log_blocks ORDER BY id LIMIT 1",
);
const BEFORE = statement<BlockRow, [before: number]>(
  "history-log.before",
  "SELECT id, last_id AS lastId, from_ms AS fromMs, to_ms AS toMs, worst, lines FROM log_blocks WHERE id < ? ORDER BY id DESC",
);
const BODY = statement<{ body: Uint8Array<ArrayBuffer> }, [id: number]>(
  "history-log.body",
  "SELECT body FROM log_blocks WHERE id = ?",
);
const DELETE = statement<never, [id: number]>("history-log.delete", "DELETE FROM log_blocks WHERE id = ?");

export function addLines(db: SideDatabase, lines: readonly LogLine[]): void {
  let next = (db.get(NEWEST)?.lastId ?? 0) + 1;
  for (let from = 0; from < lines.length; from += BLOCK_LINES) {
    const block = lines.slice(from, from + BLOCK_LINES);
    writeBlock(db, next, block);
    next += block.length;
  }
}

function writeBlock(db: SideDatabase, id: number, lines: readonly LogLine[]): void {
  const times = lines.map(({ atMs }) => atMs);
  const worst = Math.max(...lines.map(({ level }) => RANKS[level] ?? 0));
  const text = lines
    .map(({ atMs, level, thread, message, fields }) => JSON.stringify([atMs, level, thread, message, fields]))
    .join("\n");
  const body = Bun.zstdCompressSync(text, { level: LEVEL });
  const lastId = id + lines.length - 1;
  db.run(ADD, id, lastId, Math.min(...times), Math.max(...times), worst, lines.length, body);
}

function linesOf(db: SideDatabase, id: number): NumberedLine[] {
  const body = db.get(BODY, id)?.body;
  return body ? decodeStored(() => decodeLines(body, id)) : [];
}

function decodeLines(body: Uint8Array<ArrayBuffer>, id: number): NumberedLine[] {
  const text = new TextDecoder().decode(Bun.zstdDecompressSync(body));
  return text.split("\n").map((line, at) => {
    const [atMs, level, thread, message, fields] = JSON.parse(line) as [
      number,
      string,
      string,
      string,
      string,
    ];
    return { id: id + at, atMs, level, thread, message, fields };
  });
}

/** The next lines, newest first, from the next blocks. One block is read per turn. */
export interface LogPart {
  readonly lines: readonly NumberedLine[];
  /** The number before which the search continues; undefined at its end. */
  readonly before: number | undefined;
}

/** Searches the newest block before a number. */
export function searchBlock(
  db: SideDatabase,
  { fromMs, toMs, level, words, before, limit }: LogSearch,
): LogPart {
  const wanted = RANKS[level] ?? 0;
  const block = db
    .all(BEFORE, before)
    .find((one) => one.worst >= wanted && one.toMs >= fromMs && one.fromMs < toMs);
  if (!block) return { lines: [], before: undefined };
  const lower = words.map((word) => word.toLowerCase());
  const found: NumberedLine[] = [];
  for (const line of linesOf(db, block.id).reverse()) {
    if (line.id >= before || line.atMs < fromMs || line.atMs >= toMs) continue;
    if ((RANKS[line.level] ?? 0) < wanted) continue;
    const text = `${line.message} ${line.fields} ${line.thread}`.toLowerCase();
    if (!lower.every((word) => text.includes(word))) continue;
    found.push(line);
    if (found.length === limit) return { lines: found, before: line.id };
  }
  return { lines: found, before: block.id };
}

/** Joins the small blocks of each hour that has passed into large ones, which compress better. */
export function joinBlocks(db: SideDatabase, nowMs: number): void {
  const current = nowMs - (nowMs % HOUR_MS);
  let group: BlockRow[] = [];
  const flush = () => {
    if (group.length > 1) {
      const lines = group.flatMap(({ id }) => linesOf(db, id));
      for (const { id } of group) db.run(DELETE, id);
      writeBlock(db, group[0]?.id ?? 0, lines);
    }
    group = [];
  };
  for (const block of db.all(BEFORE, Number.MAX_SAFE_INTEGER).reverse()) {
    const sum = group.reduce((lines, one) => lines + one.lines, block.lines);
    const isSameHour =
      Math.floor((group[0]?.fromMs ?? block.fromMs) / HOUR_MS) === Math.floor(block.fromMs / HOUR_MS);
    if (sum > BLOCK_LINES || !isSameHour) flush();
    if (block.fromMs < current) group.push(block);
  }
  flush();
}

/** Returns the time of the oldest line in Unix milliseconds; undefined if there is none. */
export function oldestLine(db: SideDatabase): number | undefined {
  return db.get(OLDEST)?.fromMs;
}

/** Deletes the oldest block. Returns whether there was one. */
export function deleteOldestBlock(db: SideDatabase): boolean {
  const oldest = db.get(OLDEST);
  if (!oldest) return false;
  db.run(DELETE, oldest.id);
  return true;
}
