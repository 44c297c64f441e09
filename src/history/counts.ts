import type { SideDatabase } from "../db/side/side-database.ts";
import { statement } from "../db/side/statement.ts";

/** How often something happened from a time on (Unix seconds). */
export interface Counts {
  readonly t: number;
  /** By kind, such as `cast.created`, `delivered` or `warn`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The intervals over which counts are summed, and how long each is kept, in seconds. */
const LEVELS = [
  { step: 15, kept: 2 * 86_400 },
  { step: 300, kept: 30 * 86_400 },
  { step: 3600, kept: 730 * 86_400 },
  { step: 86_400, kept: 730 * 86_400 },
] as const;

const ADD = statement<never, [rows: string]>(
  "history-counts.add",
  `INSERT INTO counts (step, t, kind, n)
   SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2, j.value ->> 3 FROM json_each(?) j WHERE true
   ON CONFLICT (step, t, kind) DO UPDATE SET n = n + excluded.n`,
);
const BETWEEN = statement<{ t: number; kind: number; n: number }, [step: number, from: number, to: number]>(
  "history-counts.between",
  "SELECT t, kind, n FROM counts WHERE step = ? AND t >= ? AND t < ? ORDER BY t",
);
const DELETE_BEFORE = statement<never, [step: number, before: number]>(
  "history-counts.delete-before",
  "DELETE FROM counts WHERE step = ? AND t < ?",
);

export function addCounts(
  db: SideDatabase,
  all: readonly Counts[],
  kinds: ReadonlyMap<string, number>,
): void {
  const rows: number[][] = [];
  for (const { step } of LEVELS) {
    const sums = new Map<number, Map<number, number>>();
    for (const { t, counts } of all) {
      const start = t - (t % step);
      const of = sums.get(start) ?? new Map<number, number>();
      sums.set(start, of);
      for (const [name, n] of Object.entries(counts)) {
        const kind = kinds.get(name);
        if (kind !== undefined && n > 0) of.set(kind, (of.get(kind) ?? 0) + n);
      }
    }
    for (const [t, of] of sums) for (const [kind, n] of of) rows.push([step, t, kind, n]);
  }
  if (rows.length > 0) db.run(ADD, JSON.stringify(rows));
}

/**
 * Returns the counts in a time range by bucket and kind, at the smallest interval that divides the buckets and is still
 * kept.
 */
export function countsByBucket(
  db: SideDatabase,
  { from, bucketSecs, buckets, now }: CountsRange,
): Map<number, number[]> {
  const level = LEVELS.findLast(({ step }) => bucketSecs % step === 0 && from % step === 0) ?? LEVELS[0];
  const { step } = LEVELS.find((one) => one.step >= level.step && from >= now - one.kept) ?? level;
  const byKind = new Map<number, number[]>();
  for (const { t, kind, n } of db.all(BETWEEN, step, from - (from % step), from + buckets * bucketSecs)) {
    const bucket = Math.max(0, Math.floor((t - from) / bucketSecs));
    const of = byKind.get(kind) ?? new Array<number>(buckets).fill(0);
    byKind.set(kind, of);
    of[bucket] = (of[bucket] ?? 0) + n;
  }
  return byKind;
}

interface CountsRange {
  /** Unix seconds. */
  readonly from: number;
  readonly bucketSecs: number;
  readonly buckets: number;
  readonly now: number;
}

export function sweepCounts(db: SideDatabase, now: number): void {
  for (const { step, kept } of LEVELS) db.run(DELETE_BEFORE, step, now - kept);
}
