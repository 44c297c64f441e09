import { firstCastIdAt } from "../db/index/cast-id.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { UserError } from "../lib/failure.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";

/** Which accounts trust flows from: `scores.seeds`, or the default where it is empty, with two amendments. */
export interface SeedSettings {
  readonly seeds: readonly number[];
  readonly seedsAdd: readonly number[];
  readonly notSeeds: readonly number[];
}

const DAY_SECS = 86_400;
const YEAR_SECS = 365 * DAY_SECS;
const MAX_DEFAULT_SEEDS = 500;
const MIN_SEEDS = 20;
const MIN_FOLLOWERS = 20;
const RECENT_SECS = 90 * DAY_SECS;
const MIN_AGE_SECS = 2 * YEAR_SECS;
/** In a network that is younger than that, the first tenth counts as old. */
const FIRST_SHARE = 0.1;
const CANDIDATES_PER_READ = 500;

const oldEnough = statement<
  { fid: number; isSeed: number },
  [after: number, registeredUpTo: number, castsFrom: number, limit: number]
>(
  "score-seeds.candidates",
  `SELECT f.fid, f.registered_at <= ?2
     AND EXISTS (SELECT 1 FROM follow_counts c WHERE c.fid = f.fid AND c.followers >= ${MIN_FOLLOWERS})
     AND EXISTS (SELECT 1 FROM on_chain_events e
       WHERE e.type = ${OnChainEventType.EVENT_TYPE_STORAGE_RENT} AND e.fid = f.fid)
     AND (EXISTS (SELECT 1 FROM casts c WHERE c.fid = f.fid AND (c.parent_id IS NOT NULL) = 0 AND c.id >= ?3)
       OR EXISTS (SELECT 1 FROM casts c WHERE c.fid = f.fid AND (c.parent_id IS NOT NULL) = 1 AND c.id >= ?3)) AS isSeed
   FROM fids f WHERE f.fid > ?1 AND f.registered_at IS NOT NULL ORDER BY f.fid LIMIT ?4`,
);
const earliest = statement<{ at: number }, [limit: number]>(
  "score-seeds.earliest",
  "SELECT registered_at AS at FROM fids WHERE fid > 0 AND registered_at IS NOT NULL ORDER BY fid LIMIT ?",
);

/**
 * Returns the fids of the seeds, ascending. By default the 500 smallest ones of registered accounts that paid for storage, cast within 90 days,
 * have 20 followers and registered two years ago; of a younger network, its first tenth may be seeds.
 *
 * @param accounts the number of registered accounts
 * @throws UserError for fewer than 20
 */
export function findSeeds(
  db: IndexDatabase,
  settings: SeedSettings,
  { nowSecs, accounts, accountOf }: { nowSecs: number; accounts: number; accountOf: (fid: number) => number },
): number[] {
  const without = new Set(settings.notSeeds);
  const named = settings.seeds.length > 0 ? settings.seeds : defaultSeeds(db, { nowSecs, accounts, without });
  const seeds = [...new Set([...named, ...settings.seedsAdd])]
    .filter((fid) => !without.has(fid) && accountOf(fid) >= 0)
    .sort((a, b) => a - b);
  if (seeds.length < MIN_SEEDS)
    throw new UserError(
      `only ${seeds.length} registered accounts are seeds, and at least ${MIN_SEEDS} are needed: name more by scores.seeds or scores.seeds_add`,
    );
  return seeds;
}

function defaultSeeds(
  db: IndexDatabase,
  { nowSecs, accounts, without }: { nowSecs: number; accounts: number; without: ReadonlySet<number> },
): number[] {
  const first = db.get(earliest, 1)?.at ?? nowSecs;
  const isYoung = first > nowSecs - MIN_AGE_SECS;
  let left = isYoung ? Math.ceil(FIRST_SHARE * accounts) : Number.POSITIVE_INFINITY;
  const registeredUpTo = isYoung ? nowSecs : nowSecs - MIN_AGE_SECS;
  const castsFrom = firstCastIdAt(nowSecs - RECENT_SECS);
  const seeds: number[] = [];
  for (let after = 0; left > 0; ) {
    const rows = db.all(oldEnough, after, registeredUpTo, castsFrom, Math.min(left, CANDIDATES_PER_READ));
    for (const { fid, isSeed } of rows) {
      if (isSeed === 1 && !without.has(fid)) seeds.push(fid);
      if (seeds.length === MAX_DEFAULT_SEEDS) return seeds;
    }
    const last = rows.at(-1);
    if (last === undefined) return seeds;
    after = last.fid;
    left -= rows.length;
  }
  return seeds;
}
