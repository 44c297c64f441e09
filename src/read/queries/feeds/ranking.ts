import {
  decodeTopic,
  nearestSnapshot,
  newestSnapshot,
  type RankedTopic,
  type RankingKind,
  rankIn,
} from "../../../db/index/counts/rankings.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { parentUrlFilter, resolveChannelIds } from "../../channel-names.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../../cursor.ts";
import { visiblePage } from "../../rules/visible-page.ts";
import { openCastRules } from "../channels/cast-rules.ts";

/** A ranked cast or channel. */
interface Ranked<Id> {
  readonly rank: number;
  readonly id: Id;
  readonly ref: Uint8Array;
}

type From = [snapshot: number, afterRank: number, limit: number];

// The ranking contains hashes. The index of casts has the first 6 bytes of a hash, and the row has the rest.
const RANKED_CASTS = `SELECT r.rank, c.id, r.ref FROM rankings r
     CROSS JOIN casts c ON substr(c.hash, 1, 6) = substr(r.ref, 1, 6) AND c.hash = r.ref
     WHERE r.kind = 'casts' AND r.snapshot = ?1 AND r.rank > ?2`;
const liveCasts = statement<Ranked<number>, From>(
  "skeleton.ranking.casts",
  `${RANKED_CASTS} ORDER BY r.rank LIMIT ?3`,
);
const liveChannels = statement<Ranked<string>, From>(
  "skeleton.ranking.channels",
  `SELECT r.rank, a.id, r.ref FROM rankings r CROSS JOIN channel_activity a ON a.id = CAST(r.ref AS TEXT)
   WHERE r.kind = 'channels' AND r.snapshot = ? AND r.rank > ? ORDER BY r.rank LIMIT ?`,
);
const castsUnder = statement<Ranked<number>, [...From, urlsJson: string]>(
  "skeleton.ranking.casts-under",
  `${RANKED_CASTS}
     AND c.parent_url_id IN (SELECT u.id FROM json_each(?4) j CROSS JOIN urls u ON u.url = j.value)
     ORDER BY r.rank LIMIT ?3`,
);

const topics = statement<Ranked<number>, From>(
  "skeleton.ranking.topics",
  "SELECT rank, rank AS id, ref FROM rankings WHERE kind = 'topics' AND snapshot = ? AND rank > ? ORDER BY rank LIMIT ?",
);

interface RankingQuery {
  readonly limit: number;
  readonly after: RankingKey | undefined;
}

/**
 * Returns a page of the newest ranking of casts, or of the ranking that the cursor names. Removed casts are skipped, and
 * lower ranks fill the page. More than an hour after its first page, the list may end early. The length of a ranking bounds
 * the work.
 */
export function rankedCasts(db: IndexDatabase, query: RankingQuery): Page<Ranked<number>> {
  return rankingPage(db, "casts", query, (...from) => db.all(liveCasts, ...from));
}

/**
 * Returns ranked casts after a rank, from the ranking nearest to a time in Unix milliseconds; empty if there is none within
 * an hour.
 */
export function rankedCastsAt(
  db: IndexDatabase,
  atMs: number,
  { afterRank, limit }: { readonly afterRank: number; readonly limit: number },
): readonly Ranked<number>[] {
  const snapshot = nearestSnapshot(db, "casts", atMs);
  return snapshot === undefined ? [] : db.all(liveCasts, snapshot, afterRank, limit);
}

/** Returns a page of the ranked channels, like `rankedCasts`. Channels without live casts are skipped. */
export function rankedChannels(db: IndexDatabase, query: RankingQuery): Page<Ranked<string>> {
  return rankingPage(db, "channels", query, (...from) => db.all(liveChannels, ...from));
}

/** Returns a page of the topics of the newest complete hour that was counted. */
export function rankedTopics(db: IndexDatabase, query: RankingQuery): Page<RankedTopic> {
  const { rows, cursor } = rankingPage(db, "topics", query, (...from) => db.all(topics, ...from));
  return { rows: rows.map(({ ref }) => decodeTopic(ref)), cursor };
}

/** Returns a page of the ranked casts directly in a channel or under a URL, without those hidden in the channel. */
export function rankedCastsUnder(
  db: IndexDatabase,
  {
    parentUrl,
    channelId,
    ...query
  }: {
    readonly limit: number;
    readonly after: Key<CastRankingShape> | undefined;
    readonly parentUrl: string | undefined;
    readonly channelId: string | undefined;
  },
): Page<Ranked<number>> {
  const json = JSON.stringify(parentUrlFilter(db, { parentUrl, channelId }) ?? []);
  const rules =
    channelId === undefined ? undefined : openCastRules(db, resolveChannelIds(db, [channelId]), {});
  return visiblePage({ ...query, cursor: rankingCursors.casts }, rules?.visible, (page) =>
    rankingPage(db, "casts", page, (snapshot, after, limit) =>
      db.all(castsUnder, snapshot, after, limit, json),
    ),
  );
}

function rankingPage<Id>(
  db: IndexDatabase,
  kind: RankingKind,
  { limit, after }: RankingQuery,
  read: (...from: From) => Ranked<Id>[],
): Page<Ranked<Id>> {
  const newest = () => ({ snapshot: newestSnapshot(db, kind), afterRank: 0, drift: 0 });
  const { snapshot, afterRank, drift } = after ? findPosition(db, kind, after) : newest();
  if (snapshot === undefined) return { rows: [], cursor: null };
  return cutPage(read(snapshot, afterRank, limit + 1), limit, ({ rank, ref }) =>
    encodePosition[kind](snapshot, { rank: rank + drift, ref }),
  );
}

/**
 * Cursors into a ranking: the snapshot of the page, and the rank and ref of its last entry. Ranks belong to one node. The
 * ref finds the position on another node, whose snapshot of the same time may differ or be missing. If its rank is lower
 * there, the rank of the cursor still grows, so that a walk over nodes with different rankings ends.
 */
export const rankingCursors = {
  casts: cursorCodec<CastRankingShape>("trending casts", ["int", "int", "hash"]),
  channels: cursorCodec("trending channels", ["int", "int", "text"]),
  topics: cursorCodec("trending topics", ["int", "int", "text"]),
};

type CastRankingShape = readonly ["int", "int", "hash"];

/** The key of a ranking cursor. */
type RankingKey = readonly [snapshot: number, rank: number, ref: string];

/** A walk ends at this rank, which is twice the length of the longest ranking. */
const LAST_RANK = 2000;

/** Encodes the cursor after an entry of a snapshot. */
const encodePosition: Readonly<
  Record<
    RankingKind,
    (snapshot: number, entry: { readonly rank: number; readonly ref: Uint8Array }) => string
  >
> = {
  casts: (snapshot, { rank, ref }) => rankingCursors.casts.encode([snapshot, rank, `0x${ref.toHex()}`]),
  channels: (snapshot, { rank, ref }) =>
    rankingCursors.channels.encode([snapshot, rank, Buffer.from(ref).toString()]),
  topics: (snapshot, { rank, ref }) =>
    rankingCursors.topics.encode([snapshot, rank, Buffer.from(ref).toString()]),
};

/**
 * Returns the position of a cursor in a ranking of this node: in its snapshot, or in the nearest one within an hour, after
 * the cursor's entry, or after its rank if the snapshot lacks the entry. Undefined without such a snapshot, or at the end of
 * the walk. `drift` is how much higher the cursor's rank is.
 */
function findPosition(
  db: IndexDatabase,
  kind: RankingKind,
  [named, rank, text]: RankingKey,
): { readonly snapshot: number | undefined; readonly afterRank: number; readonly drift: number } {
  const snapshot = nearestSnapshot(db, kind, named);
  if (snapshot === undefined || rank >= LAST_RANK) return { snapshot: undefined, afterRank: rank, drift: 0 };
  const ref = kind === "casts" ? Buffer.from(text.slice(2), "hex") : Buffer.from(text);
  const afterRank = rankIn(db, kind, { snapshot, ref }) ?? rank;
  return { snapshot, afterRank, drift: Math.max(0, rank - afterRank) };
}
