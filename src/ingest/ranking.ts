import { bulkPhaseOf } from "../db/index/bulk/bulk-state.ts";
import { firstCastIdAt, timestampOfCastId } from "../db/index/cast-id.ts";
import {
  newestSnapshot,
  type RankedRef,
  type RankingSnapshot,
  SNAPSHOT_INTERVAL_MS,
  snapshotTimeAt,
} from "../db/index/counts/rankings.ts";
import { scoresOf } from "../db/index/counts/scores.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { urlOf } from "../db/index/project/cast-references/named-ids.ts";
import { statement } from "../db/index/statement.ts";
import { channelIdOf } from "../protocol/channel-url.ts";
import type { ScoreSource } from "../read/hydrate/users.ts";
import { type Clock, type SetTimer, setTimer } from "../runtime/clock.ts";

/** Dependencies and settings of the refresh of rankings. */
export interface RankingRefreshDeps {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  readonly windowHours: number;
  /** Set if scores affect feeds: an act then counts by the score of its actor. */
  readonly scores?: ScoreSource | undefined;
  /** Sends a snapshot to the writer. Resolves when it is stored. */
  readonly store: (snapshot: RankingSnapshot) => Promise<void>;
}

/** Computes the rankings unless this interval already has some. Newer ones were made by a clock that was wrong. */
export async function refreshRankings(refresh: RankingRefreshDeps): Promise<void> {
  const { db, clock, windowHours, scores, store } = refresh;
  // An index that is being built in bulk has neither all rows nor the indexes to read them.
  if (bulkPhaseOf(db) !== undefined) return;
  const snapshot = snapshotTimeAt(clock.nowMs());
  if (newestSnapshot(db, "casts") === snapshot) return;
  await store(computeRankings(db, { snapshot, windowHours, scores }));
}

/**
 * Refreshes the rankings now, and then at the start of each interval, never two at once. Resolves after the first refresh. A
 * fault of a later one is passed to `onFault`, and the ranking stays unchanged until the next.
 */
export async function startRankingRefresh(
  refresh: RankingRefreshDeps & {
    readonly onFault: (cause: unknown) => void;
    /** Default: the process's timers. */
    readonly after?: SetTimer;
  },
): Promise<{ stop(): Promise<void> }> {
  const { clock, onFault, after = setTimer } = refresh;
  await refreshRankings(refresh);
  let running: Promise<void> = Promise.resolve();
  let cancel: () => void;
  const schedule = () => {
    cancel = after(msToNextSnapshot(clock.nowMs()), () => {
      running = refreshRankings(refresh).catch(onFault).then(schedule);
    });
  };
  schedule();
  return {
    async stop() {
      cancel();
      await running;
      // The refresh that has just ended has scheduled the next one.
      cancel();
    },
  };
}

/**
 * Returns the time to the next snapshot in milliseconds, never zero, so that a refresh without effect is not repeated at
 * once.
 */
function msToNextSnapshot(nowMs: number): number {
  return snapshotTimeAt(nowMs) + SNAPSHOT_INTERVAL_MS - nowMs;
}

/** Length of a stored ranking. */
const MAX_RANKED = 1000;

/** Rows per read. Reads are short so that none delays the checkpoint of the writer's log. */
const ROWS_PER_READ = 5000;

/** Casts per statement that counts exact engagement. */
const CASTS_PER_COUNT = 250;

const HOUR_SECS = 3600;

interface Counts {
  readonly likes: number;
  readonly recasts: number;
  readonly replies: number;
}

interface WindowRow {
  id: number;
  hash: Uint8Array;
  fid: number;
  parentUrlId: number | null;
  likes: number | null;
  recasts: number | null;
  replies: number | null;
}

const windowRows = statement<WindowRow, [afterId: number, limit: number]>(
  "ranking.window",
  `SELECT c.id, c.hash, c.fid, c.parent_url_id AS parentUrlId, n.likes, n.recasts, n.replies
   FROM casts c LEFT JOIN cast_counts n ON n.id = c.id
   WHERE c.id > ? ORDER BY c.id LIMIT ?`,
);
const engagementOf = statement<Counts & { id: number }, [idsJson: string]>(
  "ranking.engagement",
  // The protocol stores one like and one recast of an fid for a cast, so their rows are distinct fids already.
  `SELECT c.id,
     (SELECT count(*) FROM reactions r
      WHERE r.target_id = c.id AND r.type = 1 AND r.fid != c.fid) AS likes,
     (SELECT count(*) FROM reactions r
      WHERE r.target_id = c.id AND r.type = 2 AND r.fid != c.fid) AS recasts,
     (SELECT count(DISTINCT r.fid) FROM casts r
      WHERE r.parent_id = c.id AND r.fid != c.fid) AS replies
   FROM json_each(?) j CROSS JOIN casts c ON c.id = j.value`,
);

/** Each of those acts with its weight: a like 1, a recast 2, any number of replies 3. */
const actsOn = statement<{ id: number; fid: number; weight: number }, [idsJson: string]>(
  "ranking.acts",
  `SELECT c.id, r.fid, r.type AS weight FROM json_each(?1) j CROSS JOIN casts c ON c.id = j.value
     CROSS JOIN reactions r ON r.target_id = c.id AND r.type IN (1, 2) AND r.fid != c.fid
   UNION ALL
   SELECT DISTINCT c.id, r.fid, 3 FROM json_each(?1) j CROSS JOIN casts c ON c.id = j.value
     CROSS JOIN casts r ON r.parent_id = c.id AND r.fid != c.fid`,
);
/** Score from which an act counts in full. */
const WHOLE_SCORE = 0.5;

interface Candidate {
  readonly id: number;
  readonly hash: Uint8Array;
  readonly timestamp: number;
  /** The score by the plain counts, never below the exact score. */
  readonly bound: number;
}

interface ChannelTally {
  readonly authors: Set<number>;
  engagement: number;
}

/**
 * Ranks the live casts of the `windowHours` before the time of the snapshot, and their channels.
 *
 * Casts: (likes + 2 recasts + 3 replies) / (age in hours + 2)^1.5, by distinct fids, excluding the author. Casts without
 * engagement are not ranked. Ties: newest first. Channels: 3 per distinct author, plus likes + 2 recasts + 3 replies of
 * their casts, as shown with the casts. Ties: by id.
 *
 * The casts of the window are scanned once, in the order of their ids. The stored counts of a cast bound its score from
 * above, so exact counts are made from the highest bound down, until the last ranked score is above every remaining bound.
 */
export function computeRankings(
  db: IndexDatabase,
  options: { snapshot: number; windowHours: number; scores?: ScoreSource | undefined },
): RankingSnapshot {
  const nowSecs = Math.floor(options.snapshot / 1000);
  const since = nowSecs - options.windowHours * HOUR_SECS;
  const candidates: Candidate[] = [];
  const channels = new Map<string, ChannelTally>();
  const channelOf = createChannelOf(db);
  for (const row of castsSince(db, since)) {
    const engagement = weigh({ likes: row.likes ?? 0, recasts: row.recasts ?? 0, replies: row.replies ?? 0 });
    if (row.parentUrlId !== null) tally(channels, channelOf(row.parentUrlId), row.fid, engagement);
    if (engagement === 0) continue;
    const { id, hash } = row;
    const timestamp = timestampOfCastId(id);
    candidates.push({ id, hash, timestamp, bound: decay(engagement, timestamp, nowSecs) });
  }
  return {
    snapshot: options.snapshot,
    rankings: {
      casts: rankCasts(db, candidates, { nowSecs, scores: options.scores }),
      channels: rankChannels(channels),
    },
  };
}

/** Returns a function that maps a URL's id to the channel of the URL, with a cache. */
function createChannelOf(db: IndexDatabase): (urlId: number) => string {
  const cached = new Map<number, string>();
  return (urlId) => {
    let id = cached.get(urlId);
    if (id === undefined) {
      id = channelIdOf(urlOf(db, urlId));
      cached.set(urlId, id);
    }
    return id;
  };
}

function* castsSince(db: IndexDatabase, since: number): Generator<WindowRow> {
  let after = firstCastIdAt(since) - 1;
  for (;;) {
    const rows = db.all(windowRows, after, ROWS_PER_READ);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_PER_READ) return;
    after = last.id;
  }
}

function weigh({ likes, recasts, replies }: Counts): number {
  return likes + 2 * recasts + 3 * replies;
}

/** Applies the decay. The time of a cast may be slightly in the future; it then counts as new. */
function decay(engagement: number, timestamp: number, nowSecs: number): number {
  const ageHours = Math.max(0, nowSecs - timestamp) / HOUR_SECS;
  return engagement / (ageHours + 2) ** 1.5;
}

function rankCasts(
  db: IndexDatabase,
  candidates: Candidate[],
  { nowSecs, scores }: { readonly nowSecs: number; readonly scores: ScoreSource | undefined },
): RankedRef[] {
  candidates.sort((a, b) => b.bound - a.bound);
  let ranked: (Candidate & { score: number })[] = [];
  for (let at = 0; at < candidates.length; at += CASTS_PER_COUNT) {
    const last = ranked[MAX_RANKED - 1];
    if (last && last.score > (candidates[at]?.bound ?? 0)) break;
    const batch = candidates.slice(at, at + CASTS_PER_COUNT);
    const engagement = engagementAmong(
      db,
      batch.map(({ id }) => id),
      scores,
    );
    for (const candidate of batch) {
      const score = decay(engagement.get(candidate.id) ?? 0, candidate.timestamp, nowSecs);
      if (score > 0) ranked.push({ ...candidate, score });
    }
    ranked.sort((a, b) => b.score - a.score || b.timestamp - a.timestamp || Buffer.compare(b.hash, a.hash));
    ranked = ranked.slice(0, MAX_RANKED);
  }
  return ranked.map(({ hash, score }) => ({ ref: hash, score }));
}

/**
 * Returns the engagement of casts by id. With scores, an actor counts in proportion to the score up to 0.5, and in full
 * above that.
 */
function engagementAmong(
  db: IndexDatabase,
  ids: readonly number[],
  scores: ScoreSource | undefined,
): ReadonlyMap<number, number> {
  const json = JSON.stringify(ids);
  if (!scores) return new Map(db.all(engagementOf, json).map((row) => [row.id, weigh(row)]));
  const acts = db.all(actsOn, json);
  const known = scoresOf(db, scores.mode, [...new Set(acts.map(({ fid }) => fid))]);
  const engagement = new Map<number, number>();
  for (const { id, fid, weight } of acts) {
    const share = Math.min(1, (known.get(fid) ?? scores.unknown) / WHOLE_SCORE);
    engagement.set(id, (engagement.get(id) ?? 0) + share * weight);
  }
  return engagement;
}

function tally(channels: Map<string, ChannelTally>, id: string, fid: number, engagement: number): void {
  let channel = channels.get(id);
  if (!channel) {
    channel = { authors: new Set(), engagement: 0 };
    channels.set(id, channel);
  }
  channel.authors.add(fid);
  channel.engagement += engagement;
}

function rankChannels(channels: ReadonlyMap<string, ChannelTally>): RankedRef[] {
  return [...channels]
    .map(([id, { authors, engagement }]) => ({ id, score: 3 * authors.size + engagement }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, MAX_RANKED)
    .map(({ id, score }) => ({ ref: Buffer.from(id), score }));
}
