import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlFilter, resolveChannelIds } from "../../channel-names.ts";
import { openCastRules } from "../channels/cast-rules.ts";
import { planSearch } from "./search-plan.ts";
import { type SearchQuery, searchQuery } from "./search-query.ts";
import { MAX_SCANNED, scanMatches } from "./search-scan.ts";

const HOUR_SECS = 3600;
const DAY_SECS = 24 * HOUR_SECS;

/** Length of each interval and of its parts, in seconds. */
export const METRIC_INTERVALS = {
  "1d": { lengthSecs: DAY_SECS, partSecs: HOUR_SECS },
  "7d": { lengthSecs: 7 * DAY_SECS, partSecs: 6 * HOUR_SECS },
  "30d": { lengthSecs: 30 * DAY_SECS, partSecs: DAY_SECS },
  "90d": { lengthSecs: 90 * DAY_SECS, partSecs: DAY_SECS },
  "180d": { lengthSecs: 180 * DAY_SECS, partSecs: 7 * DAY_SECS },
} as const;

export type MetricInterval = keyof typeof METRIC_INTERVALS;

/**
 * Maximum number of casts counted for words without filters. With filters or phrases, at most `MAX_SCANNED` are examined.
 */
export const MAX_COUNTED = 200_000;

const countParts = statement<
  { part: number; casts: number; oldest: number },
  [query: string, above: number, below: number, partSecs: number, limit: number]
>(
  "skeleton.cast-metrics.count",
  `SELECT (j.id >> 16) / ?4 AS part, count(*) AS casts, min(j.id) AS oldest FROM
     (SELECT rowid AS id FROM casts_fts WHERE casts_fts MATCH ?1 AND rowid > ?2 AND rowid < ?3
      ORDER BY rowid DESC LIMIT ?5) j
   GROUP BY part`,
);

/** The number of casts in parts of an interval. Times are in Unix seconds. */
export interface CastMetrics {
  readonly partSecs: number;
  /** Oldest first, without gaps. Parts before the oldest cast that was read are left out. */
  readonly parts: readonly { readonly startsAt: number; readonly casts: number }[];
  readonly isTruncated: boolean;
}

/** State of a count: its casts by part, and the last cast that it read if it stopped before the end. */
interface Counted {
  readonly casts: ReadonlyMap<number, number>;
  readonly stoppedAt: number | undefined;
}

/**
 * Counts the live casts that a search for the same text and filters finds, by parts of the interval that ends now. Parts
 * start at multiples of their length (UTC); the last one is incomplete.
 */
export function castMetrics(
  db: IndexDatabase,
  request: {
    readonly text: string;
    readonly interval: MetricInterval;
    readonly authorFid: number | undefined;
    readonly channelId: string | undefined;
    readonly nowSecs: number;
    /** Tests lower it. */
    readonly maxCounted?: number;
  },
): CastMetrics {
  const { lengthSecs, partSecs } = METRIC_INTERVALS[request.interval];
  const end = Math.floor(request.nowSecs / partSecs) + 1;
  const start = end - Math.ceil(lengthSecs / partSecs);
  const query = searchQuery(request.text);
  const range = {
    above: firstCastIdAt(start * partSecs) - 1,
    below: firstCastIdAt(end * partSecs),
    partSecs,
  };
  const { casts, stoppedAt }: Counted =
    query === undefined
      ? { casts: new Map(), stoppedAt: undefined }
      : count(db, query, { ...request, ...range });
  const first = stoppedAt === undefined ? start : Math.floor(timestampOfCastId(stoppedAt) / partSecs) + 1;
  return {
    partSecs,
    parts: Array.from({ length: end - first }, (_, at) => ({
      startsAt: (first + at) * partSecs,
      casts: casts.get(first + at) ?? 0,
    })),
    isTruncated: stoppedAt !== undefined,
  };
}

function count(
  db: IndexDatabase,
  query: SearchQuery,
  {
    authorFid,
    channelId,
    above,
    below,
    partSecs,
    maxCounted = MAX_COUNTED,
  }: {
    readonly authorFid: number | undefined;
    readonly channelId: string | undefined;
    readonly above: number;
    readonly below: number;
    readonly partSecs: number;
    readonly maxCounted?: number;
  },
): Counted {
  const plan = planSearch(db, query, MAX_SCANNED);
  if (authorFid === undefined && channelId === undefined && plan.isExact) {
    const rows = db.all(countParts, plan.allWords, above, below, partSecs, maxCounted + 1);
    const total = rows.reduce((sum, { casts }) => sum + casts, 0);
    return {
      casts: new Map(rows.map(({ part, casts }) => [part, casts])),
      stoppedAt: total <= maxCounted ? undefined : Math.min(...rows.map(({ oldest }) => oldest)),
    };
  }
  const { rows, stoppedAt } = scanMatches(
    db,
    {
      query,
      order: "desc_chron",
      ...{ above, below, authorFid },
      urls: parentUrlFilter(db, { parentUrl: undefined, channelId }),
      limit: MAX_SCANNED,
    },
    plan,
  );
  const rules =
    channelId === undefined ? undefined : openCastRules(db, resolveChannelIds(db, [channelId]), {});
  const casts = new Map<number, number>();
  for (const { id } of rules ? rules.visible(rows) : rows) {
    const part = Math.floor(timestampOfCastId(id) / partSecs);
    casts.set(part, (casts.get(part) ?? 0) + 1);
  }
  return { casts, stoppedAt };
}
