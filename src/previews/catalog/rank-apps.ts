import type { SideDatabase } from "../../db/side/side-database.ts";
import {
  MAX_RANKED,
  miniAppDomains,
  putRanks,
  sharersOf,
  TIME_WINDOWS,
  type TimeWindow,
} from "./catalog-store.ts";

const HOUR_SECS = 3600;
const WINDOW_SECS: Readonly<Record<TimeWindow, number>> = {
  "1h": HOUR_SECS,
  "6h": 6 * HOUR_SECS,
  "12h": 12 * HOUR_SECS,
  "24h": 24 * HOUR_SECS,
  "7d": 7 * 24 * HOUR_SECS,
};
/** Minimum number of people who must have shared an app, depending on whether there are scores. */
const MIN_SHARERS = { scored: 3, counted: 10 } as const;
const MIN_SCORE = 0.3;
const DOMAINS_PER_READ = 500;

export interface RankOptions {
  /** Returns the scores of accounts. Undefined if scores are off. */
  readonly scoresOf: ((fids: readonly number[]) => ReadonlyMap<number, number>) | undefined;
  /** Unix seconds. */
  readonly nowSecs: number;
}

/**
 * Ranks the mini apps that enough distinct people have shared, by the sum of their scores, each halved for every window since the share.
 *
 * @returns the listed domains, best of the longest window first.
 */
export function rankApps(db: SideDatabase, { scoresOf, nowSecs }: RankOptions): string[] {
  const values = new Map<TimeWindow, { domain: string; value: number }[]>(
    TIME_WINDOWS.map((name) => [name, []]),
  );
  for (let after = ""; ; ) {
    const domains = miniAppDomains(db, after, DOMAINS_PER_READ);
    for (const { domain, isHidden } of domains) {
      if (isHidden === 1) continue;
      const sharers = sharersOf(db, domain);
      const scores = scoresOf?.(sharers.map(({ fid }) => fid));
      const known = sharers.filter(({ fid }) => !scores || (scores.get(fid) ?? 0) >= MIN_SCORE);
      if (known.length < (scores ? MIN_SHARERS.scored : MIN_SHARERS.counted)) continue;
      for (const [name, list] of values) {
        const value = known.reduce(
          (sum, { fid, at }) =>
            sum + (scores?.get(fid) ?? 1) * 2 ** (-Math.max(0, nowSecs - at) / WINDOW_SECS[name]),
          0,
        );
        list.push({ domain, value });
      }
    }
    const last = domains.at(-1);
    if (!last || domains.length < DOMAINS_PER_READ) break;
    after = last.domain;
  }
  let best: string[] = [];
  for (const [name, list] of values) {
    best = list
      .sort((a, b) => b.value - a.value || (a.domain < b.domain ? -1 : 1))
      .slice(0, MAX_RANKED)
      .map(({ domain }) => domain);
    putRanks(db, name, best);
  }
  return best;
}
