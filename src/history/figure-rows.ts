import { decodeStored, type SideDatabase } from "../db/side/side-database.ts";
import { statement } from "../db/side/statement.ts";
import { decodeChunk, encodeChunk, type FigureChunk, joinChunks, rowsBetween } from "./chunk.ts";

/** Intervals between stored rows, in seconds. */
export type FigureStep = 5 | 60 | 3600;

/** The statistic of a series over a minute or an hour that a column contains; samples only have the first. */
export type Stat = "mean" | "max" | "min";
const STATS: readonly Stat[] = ["mean", "max", "min"];

const DAY = 86_400;
const HOUR = 3600;

/** The longest time span that a chunk covers. */
interface Level {
  readonly step: FigureStep;
  /** Chunks within one of these spans are joined once it has passed. */
  readonly joins: readonly number[];
  readonly stats: number;
}

const LEVELS: readonly Level[] = [
  { step: 5, joins: [HOUR], stats: 1 },
  { step: 60, joins: [HOUR, DAY], stats: 2 },
  { step: 3600, joins: [DAY, 30 * DAY], stats: 3 },
];

/** How long rows are kept, in seconds, by interval. */
export const KEPT_SECS: Readonly<Record<FigureStep, number>> = { 5: 2 * DAY, 60: 30 * DAY, 3600: 730 * DAY };

/** If rows are this much older than the newest one, the clock was set back. */
const SET_BACK_SECS = 120;

const ADD_CHUNK = statement<never, [step: number, fromT: number, toT: number, body: Uint8Array]>(
  "history-chunks.add",
  "INSERT OR REPLACE INTO chunks (step, from_t, to_t, body) VALUES (?, ?, ?, ?)",
);
const NEWEST = statement<{ toT: number }, [step: number]>(
  "history-chunks.newest",
  "SELECT to_t AS toT FROM chunks WHERE step = ? ORDER BY from_t DESC LIMIT 1",
);
const OLDEST = statement<{ fromT: number }, [step: number]>(
  "history-chunks.oldest",
  "SELECT from_t AS fromT FROM chunks WHERE step = ? ORDER BY from_t LIMIT 1",
);
const CHUNKS = statement<
  { body: Uint8Array<ArrayBuffer> },
  [step: number, after: number, before: number, from: number]
>(
  "history-chunks.between",
  "SELECT body FROM chunks WHERE step = ? AND from_t > ? AND from_t < ? AND to_t >= ? ORDER BY from_t",
);
const FROMS = statement<{ fromT: number }, [step: number]>(
  "history-chunks.froms",
  "SELECT from_t AS fromT FROM chunks WHERE step = ? ORDER BY from_t",
);
const DELETE_FROM = statement<never, [step: number, fromT: number, beforeT: number]>(
  "history-chunks.delete-between",
  "DELETE FROM chunks WHERE step = ? AND from_t >= ? AND from_t < ?",
);
const DELETE_AFTER = statement<never, [step: number, fromT: number]>(
  "history-chunks.delete-after",
  "DELETE FROM chunks WHERE step = ? AND from_t >= ?",
);

interface RecentRows {
  /** No row stored since this time is missing. */
  readonly from: number;
  /** In one or several chunks, oldest first. */
  readonly chunks: readonly FigureChunk[];
}

/** Maximum number of chunks that are searched one by one, before they are joined. */
const MAX_RECENT_CHUNKS = 12;

/** The rows since the start of the hour, per writer, which needs them again for the minutes, the hour and the join. */
const recent = new WeakMap<SideDatabase, Map<FigureStep, RecentRows>>();

const key = (series: number, stat: number): number => series * 4 + stat;

export function columnOf(series: number, stat: Stat): number {
  return key(series, STATS.indexOf(stat));
}

/** Adds samples, and the minutes and hours that they complete. Rows that are not newer than the stored ones are skipped. */
export function addSamples(db: SideDatabase, samples: FigureChunk): void {
  let newest = db.get(NEWEST, 5)?.toT ?? 0;
  const first = samples.t[0];
  const last = samples.t.at(-1);
  if (first === undefined || last === undefined) return;
  if (first < newest - SET_BACK_SECS) {
    for (const { step } of LEVELS) db.run(DELETE_AFTER, step, first - (first % HOUR));
    newest = db.get(NEWEST, 5)?.toT ?? 0;
  }
  // The rows that were added last were not committed, or have been deleted.
  if (recent.get(db)?.get(5)?.chunks.at(-1)?.t.at(-1) !== newest) recent.delete(db);
  const fresh = rowsBetween(samples, newest + 1, Number.MAX_SAFE_INTEGER);
  if (fresh.t.length === 0) return;
  addRows(db, 5, fresh);
  summarize(db, 60, last);
  summarize(db, 3600, last);
  if (Math.floor(newest / HOUR) !== Math.floor(last / HOUR))
    for (const level of LEVELS) join(db, level, last);
}

/** Computes the rows of the minutes or hours that ended before `last` from samples. */
function summarize(db: SideDatabase, step: 60 | 3600, last: number): void {
  const end = last - (last % step);
  const done = db.get(NEWEST, step)?.toT;
  const from = done === undefined ? (db.get(OLDEST, 5)?.fromT ?? end) : done + step;
  if (from >= end) return;
  const summary = summaryOf(storedRows(db, 5, from, end), step, step === 60 ? 2 : 3);
  addRows(db, step, summary);
}

/** Returns rows at a greater interval: mean, maximum and minimum of each column that is a sample. */
function summaryOf(rows: FigureChunk, step: number, stats: number): FigureChunk {
  const starts = groupStarts(rows.t, step);
  const columns = new Map<number, Float32Array>();
  for (const [column, values] of rows.columns) {
    const series = Math.floor(column / 4);
    const parts = Array.from({ length: stats }, () => new Float32Array(starts.length));
    for (const [row, from] of starts.entries()) {
      const { mean, max, min } = statsOf(values, from, starts[row + 1] ?? values.length);
      for (const [at, value] of [mean, max, min].slice(0, stats).entries()) {
        const part = parts[at];
        if (part) part[row] = value;
      }
    }
    for (const [at, part] of parts.entries()) columns.set(key(series, at), part);
  }
  return { t: starts.map((at) => (rows.t[at] ?? 0) - ((rows.t[at] ?? 0) % step)), columns };
}

/** Returns stored rows at a multiple of their interval. */
export function atDistance({ t, columns }: FigureChunk, distance: number): FigureChunk {
  const starts = groupStarts(t, distance);
  const grouped = new Map<number, Float32Array>();
  for (const [column, values] of columns) {
    const stat = STATS[column % 4] ?? "mean";
    const of = (from: number, row: number) => statsOf(values, from, starts[row + 1] ?? values.length)[stat];
    grouped.set(column, Float32Array.from(starts, of));
  }
  return { t: starts.map((at) => (t[at] ?? 0) - ((t[at] ?? 0) % distance)), columns: grouped };
}

function groupStarts(t: readonly number[], step: number): number[] {
  const starts: number[] = [];
  let group = Number.NaN;
  for (const [at, time] of t.entries()) {
    const now = Math.floor(time / step);
    if (now !== group) starts.push(at);
    group = now;
  }
  return starts;
}

function statsOf(values: Float32Array, from: number, to: number): Record<Stat, number> {
  let count = 0;
  let sum = 0;
  let max = Number.NEGATIVE_INFINITY;
  let min = Number.POSITIVE_INFINITY;
  for (let at = from; at < to; at++) {
    const value = values[at] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    count += 1;
    sum += value;
    max = Math.max(max, value);
    min = Math.min(min, value);
  }
  const none = Number.NaN;
  return count === 0 ? { mean: none, max: none, min: none } : { mean: sum / count, max, min };
}

/**
 * Returns the rows of a time range, whose end is exclusive.
 *
 * @param isWanted reports which columns are read; default: all.
 */
export function readRows(
  db: SideDatabase,
  step: FigureStep,
  from: number,
  to: number,
  isWanted?: (column: number) => boolean,
): FigureChunk {
  const longest = LEVELS.find((level) => level.step === step)?.joins.at(-1) ?? HOUR;
  const bodies = db.all(CHUNKS, step, from - longest, to, from);
  return joinChunks(
    bodies.map(({ body }) =>
      rowsBetween(
        decodeStored(() => decodeChunk(body, isWanted)),
        from,
        to,
      ),
    ),
  );
}

/** Like `readRows`, but without unpacking the rows of the last hour again. */
function storedRows(db: SideDatabase, step: FigureStep, from: number, to: number): FigureChunk {
  const known = recent.get(db)?.get(step);
  return known && known.from <= from
    ? joinChunks(partsBetween(known.chunks, from, to))
    : readRows(db, step, from, to);
}

/** Returns the time of the oldest row; undefined if there is none. */
export function oldestRow(db: SideDatabase, step: FigureStep): number | undefined {
  return db.get(OLDEST, step)?.fromT;
}

/** Returns the time of the newest sample; undefined if there is none. */
export function newestSample(db: SideDatabase): number | undefined {
  return db.get(NEWEST, 5)?.toT;
}

/** Deletes the oldest chunk of an interval. Returns whether there was one. */
export function deleteOldestChunk(db: SideDatabase, step: FigureStep): boolean {
  const from = oldestRow(db, step);
  return from !== undefined && db.run(DELETE_FROM, step, from, from + 1) > 0;
}

/** Deletes rows older than a time. Those that share a chunk with newer rows stay. */
export function deleteRowsBefore(db: SideDatabase, step: FigureStep, before: number): number {
  const longest = LEVELS.find((level) => level.step === step)?.joins.at(-1) ?? HOUR;
  return db.run(DELETE_FROM, step, 0, before - longest);
}

/** Adds rows. A chunk covers one hour at first, so that joined rows are those of their hour. */
function addRows(db: SideDatabase, step: FigureStep, rows: FigureChunk): void {
  for (let from = rows.t[0]; from !== undefined; ) {
    const end = from - (from % HOUR) + HOUR;
    addChunk(db, step, rowsBetween(rows, from, end));
    from = rows.t.find((t) => t >= end);
  }
}

function addChunk(db: SideDatabase, step: FigureStep, chunk: FigureChunk): void {
  store(db, step, chunk);
  const known = recent.get(db) ?? new Map<FigureStep, RecentRows>();
  recent.set(db, known);
  const before = known.get(step);
  const from = before?.from ?? (chunk.t[0] ?? 0) - ((chunk.t[0] ?? 0) % HOUR);
  const chunks = before ? [...before.chunks, chunk] : [rowsOf(db, step, from, Number.MAX_SAFE_INTEGER)];
  known.set(step, { from, chunks: chunks.length > MAX_RECENT_CHUNKS ? [joinChunks(chunks)] : chunks });
}

function partsBetween(chunks: readonly FigureChunk[], from: number, to: number): FigureChunk[] {
  return chunks
    .filter(({ t }) => (t.at(-1) ?? 0) >= from && (t[0] ?? 0) < to)
    .map((chunk) => rowsBetween(chunk, from, to));
}

function store(db: SideDatabase, step: FigureStep, chunk: FigureChunk): void {
  db.run(ADD_CHUNK, step, chunk.t[0] ?? 0, chunk.t.at(-1) ?? 0, encodeChunk(chunk));
}

/** Returns the rows of the chunks that start within a time range. */
function rowsOf(db: SideDatabase, step: FigureStep, from: number, to: number): FigureChunk {
  const bodies = db.all(CHUNKS, step, from - 1, to, from);
  return joinChunks(bodies.map(({ body }) => decodeStored(() => decodeChunk(body))));
}

/** Joins the chunks of each time span that has passed. */
function join(db: SideDatabase, { step, joins }: Level, last: number): void {
  for (const span of joins) {
    const current = last - (last % span);
    const counts = new Map<number, number>();
    for (const { fromT } of db.all(FROMS, step)) {
      const start = fromT - (fromT % span);
      if (start < current) counts.set(start, (counts.get(start) ?? 0) + 1);
    }
    for (const [start, count] of counts) if (count > 1) joinSpan(db, step, start, span);
  }
  const known = recent.get(db);
  const hour = last - (last % HOUR);
  const chunks = known?.get(step)?.chunks;
  if (chunks) known?.set(step, { from: hour, chunks: partsBetween(chunks, hour, Number.MAX_SAFE_INTEGER) });
}

function joinSpan(db: SideDatabase, step: FigureStep, start: number, span: number): void {
  const known = recent.get(db)?.get(step);
  const end = start + span;
  const joined =
    known && known.from <= start
      ? joinChunks(partsBetween(known.chunks, start, end))
      : rowsOf(db, step, start, end);
  db.run(DELETE_FROM, step, start, end);
  store(db, step, joined);
}
