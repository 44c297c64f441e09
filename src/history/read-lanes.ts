import type { SideDatabase } from "../db/side/side-database.ts";
import { countsByBucket } from "./counts.ts";
import { marksBetween, watchedSince } from "./events/marks.ts";
import { oldestRow } from "./figure-rows.ts";
import { oldestLine } from "./log-blocks.ts";
import { readNames } from "./names.ts";
import type { LanesPage, LanesQuery } from "./rpc.ts";

export const MAX_BUCKETS = 240;
/** Time spans by the interval at which counts are kept for them. A bucket is a multiple of the interval. */
const DISTANCES = [
  { step: 15, upTo: 300, kept: 2 * 86_400 },
  { step: 300, upTo: 3600, kept: 30 * 86_400 },
  { step: 3600, upTo: 86_400, kept: Number.POSITIVE_INFINITY },
  // For months, because their hours are too many to add up for a request.
  { step: 86_400, upTo: Number.POSITIVE_INFINITY, kept: Number.POSITIVE_INFINITY },
] as const;

/** Returns what happened in a range, by lane, kind and bucket. A kind is `<lane>:<kind>`. */
export function readLanes(
  db: SideDatabase,
  { from, to, buckets: wanted }: LanesQuery,
  now: number,
): LanesPage {
  const bucketSecs = bucketOf(from, to, Math.min(wanted, MAX_BUCKETS), now);
  const start = from - (from % bucketSecs);
  const buckets = Math.max(1, Math.ceil((to - start) / bucketSecs));
  const byKind = countsByBucket(db, { from: start, bucketSecs, buckets, now });
  const lanes: Record<string, Record<string, readonly number[]>> = {};
  for (const [name, id] of readNames(db)) {
    const [lane, kind] = name.split(":");
    const counts = byKind.get(id);
    if (lane === undefined || kind === undefined || !counts) continue;
    lanes[lane] ??= {};
    lanes[lane][kind] = counts;
  }
  const oldest = oldestLine(db);
  return {
    from: start,
    bucket_secs: bucketSecs,
    buckets,
    lanes,
    marks: marksBetween(db, start, to),
    kept: {
      figures: oldestRow(db, 3600) ?? oldestRow(db, 60) ?? oldestRow(db, 5) ?? null,
      log: oldest === undefined ? null : Math.floor(oldest / 1000),
    },
    watched_since: watchedSince(db) ?? null,
  };
}

function bucketOf(from: number, to: number, buckets: number, now: number): number {
  const least = Math.max(1, (to - from) / buckets);
  const { step } = DISTANCES.find(({ upTo, kept }) => least <= upTo && from >= now - kept) ?? DISTANCES[2];
  let secs = Math.ceil(least / step) * step;
  // The first bucket starts before the range if the range starts within it.
  while (Math.ceil((to - (from - (from % secs))) / secs) > buckets) secs += step;
  return secs;
}
