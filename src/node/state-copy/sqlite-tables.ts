import type { Database, SQLQueryBindings } from "bun:sqlite";
import { parseLine, sqliteLine } from "./copy-text.ts";
import type { CopiedTable } from "./tables.ts";

/** Bytes of a chunk, about. */
const CHUNK_CHARS = 256 * 1024;
const NUL = "\0";

/** Counts what PostgreSQL cannot store. */
export interface NulCount {
  nuls: number;
}

/**
 * Reads a table as lines in key order, in chunks. A NUL, which a webhook's receiver may have put into the excerpt of its response
 * and PostgreSQL refuses, becomes U+FFFD and is counted. These statements scan whole tables, so they are not declared with those
 * that serve the node.
 */
export function* sqliteLines(
  sqlite: Database,
  table: CopiedTable,
  count: NulCount = { nuls: 0 },
): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const statement = sqlite.prepare<{ line: string }, []>(
    `SELECT ${sqliteLine(table)} AS line FROM ${table.name} ORDER BY ${table.key.join(", ")}`,
  );
  try {
    let chunk = "";
    for (const { line } of statement.iterate()) {
      chunk += `${line.includes(NUL) ? withoutNul(line, count) : line}\n`;
      if (chunk.length < CHUNK_CHARS) continue;
      yield encoder.encode(chunk);
      chunk = "";
    }
    if (chunk !== "") yield encoder.encode(chunk);
  } finally {
    statement.finalize();
  }
}

function withoutNul(line: string, count: NulCount): string {
  return line.replaceAll(NUL, () => {
    count.nuls++;
    return "\uFFFD";
  });
}

/** Inserts the lines of a table, which may be divided anywhere, within the caller's transaction. */
export async function insertLines(
  sqlite: Database,
  table: CopiedTable,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const names = table.columns.map(({ name }) => name);
  const statement = sqlite.prepare<unknown, SQLQueryBindings[]>(
    `INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) statement.run(...parseLine(line, table));
    }
    if (rest !== "") throw new Error(`${table.name}: the last row is incomplete`);
  } finally {
    statement.finalize();
  }
}

/** The highest number of a table's sequence, also of rows that are gone. */
export function sqliteSequence(sqlite: Database, table: CopiedTable): number {
  return (
    sqlite.query<{ seq: number }, [string]>("SELECT seq FROM sqlite_sequence WHERE name = ?").get(table.name)
      ?.seq ?? 0
  );
}

export function setSqliteSequence(sqlite: Database, table: CopiedTable, seq: number): void {
  sqlite.run("DELETE FROM sqlite_sequence WHERE name = ?", [table.name]);
  sqlite.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table.name, seq]);
}
