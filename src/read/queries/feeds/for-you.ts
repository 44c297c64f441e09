import { scoresOf } from "../../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { GenerationCache } from "../../../lib/generation-cache.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../../cursor.ts";
import type { HydrationCache } from "../../hydrate/cache.ts";
import { type OwnerRules, openRelations } from "../../hydrate/relations.ts";
import { type ActSnapshot, actorOf } from "./act-snapshot.ts";
import {
  type Candidate,
  diversified,
  type Reason,
  reasonsFor,
  type Trusted,
  valuedCasts,
} from "./for-you-ranking.ts";
import { rankedCastsAt } from "./ranking.ts";

/** Number of follows considered, newest first. */
const MAX_FOLLOWS = 20_000;
const MAX_TRUSTED = 400;
/** With fewer trusted accounts than this, accounts that several of the follows follow count too. */
const FEW_TRUSTED = 20;
const NEWEST_FOLLOWS = 30;
const FOLLOWS_OF_FOLLOW = 50;
const COMMON_FOLLOWERS = 2;
const MAX_NEAR = 200;
const NEAR_FACTOR = 0.3;
const NEAR_MIN_SCORE = 0.5;
const MIN_WEIGHT = 0.2;
const WEIGHT_WITHOUT_SCORES = 0.5;
/** Authors with a lower score are left out unless the viewer follows them. */
const MIN_AUTHOR_SCORE = 0.2;
/** Number of lists that a thread keeps, of 10 kB each. */
const MAX_LISTS = 2_000;

const newestFollows = statement<{ fid: number; at: number }, [fid: number, limit: number]>(
  "for-you.follows",
  `SELECT target_fid AS fid, timestamp AS at FROM links
   WHERE fid = ? AND type = ${LinkType.Follow} AND displayed_at IS NULL ORDER BY timestamp DESC LIMIT ?`,
);
const newestDisplayedFollows = statement<{ fid: number; at: number }, [fid: number, limit: number]>(
  "for-you.follows-displayed",
  `SELECT target_fid AS fid, displayed_at AS at FROM links
   WHERE fid = ? AND type = ${LinkType.Follow} AND displayed_at IS NOT NULL ORDER BY displayed_at DESC LIMIT ?`,
);
const followsOfEach = statement<{ plain: string; displayed: string }, [fidsJson: string]>(
  "for-you.follows-of-each",
  `SELECT
     (SELECT json_group_array(json_array(at, fid)) FROM (SELECT target_fid AS fid, timestamp AS at FROM links
       WHERE fid = j.value AND type = ${LinkType.Follow} AND displayed_at IS NULL ORDER BY timestamp DESC LIMIT ${FOLLOWS_OF_FOLLOW})) AS plain,
     (SELECT json_group_array(json_array(at, fid)) FROM (SELECT target_fid AS fid, displayed_at AS at FROM links
       WHERE fid = j.value AND type = ${LinkType.Follow} AND displayed_at IS NOT NULL ORDER BY displayed_at DESC LIMIT ${FOLLOWS_OF_FOLLOW})) AS displayed
   FROM json_each(?) j`,
);
// Looks up the viewer's own acts on the candidates by key.
const actedOn = statement<{ id: number }, [viewerFid: number, castsJson: string]>(
  "for-you.acted-on",
  `SELECT j.value ->> 0 AS id FROM json_each(?2) j WHERE EXISTS (SELECT 1 FROM reactions r
     WHERE r.fid = ?1 AND r.target_fid = j.value ->> 1 AND r.target_id = j.value ->> 0
       AND r.type IN (${ReactionType.REACTION_TYPE_LIKE}, ${ReactionType.REACTION_TYPE_RECAST}))
     OR EXISTS (SELECT 1 FROM casts c WHERE c.fid = ?1 AND c.parent_id = j.value ->> 0)`,
);
const liveAmong = statement<{ id: number }, [idsJson: string]>(
  "for-you.live",
  "SELECT c.id FROM json_each(?) j CROSS JOIN casts c ON c.id = j.value",
);

/** Data on which a list depends. */
export interface ForYouSource {
  readonly db: IndexDatabase;
  readonly cache: Pick<HydrationCache, "ties" | "scores">;
  readonly owner?: OwnerRules | undefined;
}

/** Part 0 is the list, part 1 the trending casts after it. The position is an index into the list, or a rank. */
const SHAPE = ["int", "int", "int"] as const;
export const forYouCursor = cursorCodec("feed/for_you", SHAPE);
export type ForYouKey = Key<typeof SHAPE>;

/** A cast of the feed. */
export interface ForYouRow {
  readonly id: number;
  readonly part: 0 | 1;
  readonly place: number;
}

/** The list of a viewer in a snapshot. */
export interface ForYouList {
  readonly snapshot: ActSnapshot;
  readonly trusted: Trusted;
  /** Numbers of casts in the snapshot. */
  readonly casts: Uint32Array;
}

interface KeptList extends ForYouList {
  /** The ties that hid accounts from the viewer when the list was made. */
  readonly ties: object | undefined;
  readonly banned: object | undefined;
  readonly muted: object | undefined;
}

/** The lists of viewers, kept during their generation. */
export type ForYouLists = ReturnType<typeof createForYouLists>;

export function createForYouLists() {
  const kept = new GenerationCache<string, KeptList>(MAX_LISTS / 2);
  return {
    /** Returns the list of a viewer; undefined for a viewer who follows no one. */
    listOf(source: ForYouSource, snapshot: ActSnapshot, viewerFid: number): ForYouList | undefined {
      const key = `${viewerFid} ${snapshot.generation}`;
      const { banned } = source.owner ?? {};
      const muted = source.owner?.muted.get(viewerFid);
      const known = kept.get(key);
      // A commit that changes which accounts are hidden drops the ties.
      const isCurrent = known?.ties !== undefined && known.ties === source.cache.ties.get(viewerFid);
      if (isCurrent && known.snapshot === snapshot && known.banned === banned && known.muted === muted)
        return known;
      const list = makeList(source, snapshot, viewerFid);
      if (list) kept.set(key, { ...list, ties: source.cache.ties.get(viewerFid), banned, muted });
      return list;
    },
  };
}

function makeList(source: ForYouSource, snapshot: ActSnapshot, viewerFid: number): ForYouList | undefined {
  const { db, cache, owner } = source;
  const follows = followsOf(db, viewerFid, MAX_FOLLOWS);
  if (follows.length === 0) return undefined;
  const followed = new Set(follows);
  const relations = openRelations(source, viewerFid, owner);
  relations?.load(follows);
  const isShown = (fid: number) => relations?.reasonFor(fid) === undefined;
  const policy = cache.scores?.enforced.has("feeds") ? cache.scores : undefined;
  const scored = (fids: readonly number[]) => {
    const known = policy && scoresOf(db, policy.mode, fids);
    return (fid: number) => known && (known.get(fid) ?? policy.unknown);
  };
  const acting = follows.filter((fid) => actorOf(snapshot, fid) !== undefined && isShown(fid));
  const scoreOf = scored(acting);
  // The sort is stable: without scores, the newest follow stays first.
  const trusted = acting.sort((a, b) => (scoreOf(b) ?? 0) - (scoreOf(a) ?? 0)).slice(0, MAX_TRUSTED);
  const weighted = trusted.map((fid) => ({ fid, weight: weightOf(scoreOf(fid)) }));
  if (trusted.length < FEW_TRUSTED) {
    const near = nearOf(db, follows, viewerFid).filter(
      (fid) => !followed.has(fid) && actorOf(snapshot, fid) !== undefined,
    );
    relations?.load(near);
    const nearScore = scored(near);
    const shown = near
      .filter((fid) => isShown(fid) && (nearScore(fid) ?? NEAR_MIN_SCORE) >= NEAR_MIN_SCORE)
      .sort((a, b) => (nearScore(b) ?? 0) - (nearScore(a) ?? 0))
      .slice(0, MAX_NEAR);
    for (const fid of shown) weighted.push({ fid, weight: NEAR_FACTOR * weightOf(nearScore(fid)) });
  }
  const people: Trusted = {
    actors: Uint32Array.from(weighted, ({ fid }) => actorOf(snapshot, fid) ?? 0),
    weights: Float64Array.from(weighted, ({ weight }) => weight),
    followed: trusted.length,
  };
  const candidates = valuedCasts(snapshot, people, viewerFid);
  const { castIds, castFids } = snapshot;
  const refs = candidates.map(({ cast }) => [castIds[cast] ?? 0, castFids[cast] ?? 0]);
  const acted = new Set(db.all(actedOn, viewerFid, JSON.stringify(refs)).map(({ id }) => id));
  const authors = [...new Set(refs.map(([, fid = 0]) => fid))];
  relations?.load(authors);
  const authorScore = scored(authors);
  const isIn = ({ cast }: Candidate) => {
    const author = castFids[cast] ?? 0;
    const isKnown = followed.has(author) || (authorScore(author) ?? 1) >= MIN_AUTHOR_SCORE;
    return isKnown && isShown(author) && !acted.has(castIds[cast] ?? 0);
  };
  const casts = Uint32Array.from(diversified(snapshot, candidates.filter(isIn)));
  return { snapshot, trusted: people, casts };
}

function weightOf(score: number | undefined): number {
  return score === undefined ? WEIGHT_WITHOUT_SCORES : Math.min(1, Math.max(MIN_WEIGHT, score));
}

/** Returns the follows of an account, newest first, then by fid. */
function followsOf(db: IndexDatabase, fid: number, limit: number): number[] {
  return [...db.all(newestFollows, fid, limit), ...db.all(newestDisplayedFollows, fid, limit)]
    .sort((a, b) => b.at - a.at || a.fid - b.fid)
    .slice(0, limit)
    .map((row) => row.fid);
}

/** Returns the accounts that several of the newest follows follow, most followed first, then by fid. */
function nearOf(db: IndexDatabase, follows: readonly number[], viewerFid: number): number[] {
  const counts = new Map<number, number>();
  for (const { plain, displayed } of db.all(
    followsOfEach,
    JSON.stringify(follows.slice(0, NEWEST_FOLLOWS)),
  )) {
    const all: [at: number, fid: number][] = [...JSON.parse(plain), ...JSON.parse(displayed)];
    const newest = all.sort(([at, fid], [other, otherFid]) => other - at || fid - otherFid);
    for (const [, fid] of newest.slice(0, FOLLOWS_OF_FOLLOW)) counts.set(fid, (counts.get(fid) ?? 0) + 1);
  }
  return [...counts]
    .filter(([fid, count]) => count >= COMMON_FOLLOWERS && fid !== viewerFid)
    .sort(([a, m], [b, n]) => n - m || a - b)
    .map(([fid]) => fid);
}

/**
 * Returns a page of the feed: the list, then the trending casts of its time that are not in the list. Casts removed since
 * then are skipped, and later ones fill the page.
 *
 * @param query.generation the time of the feed, which its cursors contain.
 */
export function forYouPage(
  db: IndexDatabase,
  list: ForYouList | undefined,
  query: { readonly generation: number; readonly limit: number; readonly after: ForYouKey | undefined },
): Page<ForYouRow> {
  const { generation, limit, after } = query;
  const [, place = 0, part = 0] = after ?? [];
  const rows: ForYouRow[] = [];
  if (part === 0 && list) rows.push(...listedFrom(db, list, place, limit + 1));
  if (rows.length <= limit) {
    const rank = part === 0 ? 0 : place;
    rows.push(...trendingAfter(db, { list, generation, rank }, limit + 1 - rows.length));
  }
  return cutPage(rows, limit, (row) =>
    forYouCursor.encode([generation, row.part === 0 ? row.place + 1 : row.place, row.part]),
  );
}

function listedFrom(db: IndexDatabase, { casts, snapshot }: ForYouList, from: number, limit: number) {
  const rows: ForYouRow[] = [];
  for (let at = Math.max(0, from); at < casts.length && rows.length < limit; at += limit) {
    const some = Array.from(casts.subarray(at, at + limit), (cast, offset) => ({
      ...{ id: snapshot.castIds[cast] ?? 0, part: 0 as const, place: at + offset },
    }));
    const live = new Set(db.all(liveAmong, JSON.stringify(some.map((row) => row.id))).map((row) => row.id));
    rows.push(...some.filter((row) => live.has(row.id)));
  }
  return rows.slice(0, limit);
}

function trendingAfter(
  db: IndexDatabase,
  from: { readonly list: ForYouList | undefined; readonly generation: number; readonly rank: number },
  limit: number,
): ForYouRow[] {
  const { list, generation } = from;
  const listed = new Set(list && Array.from(list.casts, (cast) => list.snapshot.castIds[cast] ?? 0));
  const rows: ForYouRow[] = [];
  for (let afterRank = from.rank; rows.length < limit; ) {
    const some = rankedCastsAt(db, generation * 1000, { afterRank, limit });
    for (const { id, rank } of some) if (!listed.has(id)) rows.push({ id, part: 1, place: rank });
    if (some.length < limit) break;
    afterRank = some.at(-1)?.rank ?? afterRank;
  }
  return rows.slice(0, limit);
}

/** Returns, by cast id, why the casts of a page are in the list; trending casts have no reason. */
export function reasonsOf(
  list: ForYouList | undefined,
  rows: readonly ForYouRow[],
): ReadonlyMap<number, Reason> {
  if (!list) return new Map();
  const numbers = new Map<number, number>();
  for (const { part, place, id } of rows) if (part === 0) numbers.set(list.casts[place] ?? 0, id);
  const reasons = reasonsFor(list.snapshot, list.trusted, new Set(numbers.keys()));
  return new Map([...reasons].map(([cast, reason]) => [numbers.get(cast) ?? 0, reason]));
}
