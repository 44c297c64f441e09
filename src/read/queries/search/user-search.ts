import { scoresOf } from "../../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { UserDataType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../../cursor.ts";
import { type HydrationCache, readThrough } from "../../hydrate/cache.ts";
import { type PersonText, personText } from "../../hydrate/person-text.ts";
import { type PeopleTier, peopleMatchOf, peopleQuery, peopleTier } from "./people-match.ts";

/** Maximum number of people with all words that are read, in the order of fids. */
export const MAX_MATCHES = 2000;
/** Number of the most followed users that are also read if more people have the words. */
export const MAX_MOST_FOLLOWED = 5000;

interface Followed {
  readonly fid: number;
  readonly followers: number;
}

const matches = statement<{ fid: number }, [query: string]>(
  "skeleton.user-search.matches",
  `SELECT rowid AS fid FROM people_fts WHERE people_fts MATCH ? ORDER BY rowid LIMIT ${MAX_MATCHES + 1}`,
);
const mostFollowed = statement<Followed>(
  "skeleton.user-search.most-followed",
  `SELECT fid, followers FROM follow_counts WHERE followers > 0 ORDER BY followers DESC, fid DESC LIMIT ${MAX_MOST_FOLLOWED}`,
);
const ownerOfName = statement<{ fid: number }, [name: string]>(
  "skeleton.user-search.owner-of-name",
  "SELECT fid FROM username_proofs WHERE name = ?",
);
/** The texts of registered people. */
const profiles = statement<
  { fid: number; username: string | null; display: string | null; bio: string | null },
  [fidsJson: string]
>(
  "skeleton.user-search.profiles",
  `SELECT f.fid, n.name AS username, d.value AS display, b.value AS bio
   FROM json_each(?) j
   CROSS JOIN fids f ON f.fid = j.value
   LEFT JOIN user_data u ON u.fid = f.fid AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME}
   LEFT JOIN username_proofs n ON n.name = u.value AND n.fid = f.fid
   LEFT JOIN user_data d ON d.fid = f.fid AND d.type = ${UserDataType.USER_DATA_TYPE_DISPLAY}
   LEFT JOIN user_data b ON b.fid = f.fid AND b.type = ${UserDataType.USER_DATA_TYPE_BIO}`,
);
const followersOf = statement<Followed, [fidsJson: string]>(
  "skeleton.user-search.followers",
  `SELECT c.fid, c.followers FROM json_each(?) j CROSS JOIN follow_counts c ON c.fid = j.value`,
);
const followedBy = statement<{ fid: number }, [viewerFid: number, fidsJson: string]>(
  "skeleton.user-search.followed-by",
  `SELECT l.target_fid AS fid FROM json_each(?2) j
   CROSS JOIN links l ON l.fid = ?1 AND l.type = 1 AND l.target_fid = j.value`,
);

export const userSearchCursor = cursorCodec("user/search ranked", ["int", "int", "int", "int", "int"]);

/** A person that a search found, with the numbers of the cursor. `tier` is 0 for a match by the exact username. */
export interface UserMatch {
  readonly fid: number;
  readonly tier: PeopleTier;
  /** 1 for a person that the viewer follows, otherwise 0. */
  readonly followed: 0 | 1;
  /** In hundredths; 0 while scores are off. */
  readonly score: number;
  readonly followers: number;
}

/** Parameters of a search. */
interface UserSearch {
  readonly text: string;
  /** Whether only usernames and display names are searched, not bios and fids. Default: no. */
  readonly inNames?: boolean;
  readonly viewerFid?: number | undefined;
}

interface UserSearchPage {
  readonly limit: number;
  readonly after: Key<readonly ["int", "int", "int", "int", "int"]> | undefined;
}

/**
 * Searches once, and returns a function for pages of the result, because a page without hidden people may need several.
 *
 * The search finds people who have every word of a text as the start of a word of their username, display name or bio,
 * ignoring case and diacritics. They are ordered by tier (`PeopleTier`), then followed by the viewer first, then by score
 * where scores are on, by followers and by fid. If more than `MAX_MATCHES` people have the words, the search covers the
 * first of these and the `MAX_MOST_FOLLOWED` most followed users of the network.
 */
export function searchUsers(
  db: IndexDatabase,
  cache: Pick<HydrationCache, "people" | "scores">,
  search: UserSearch,
): (page: UserSearchPage) => Page<UserMatch> {
  const ranked = rankedUsers(db, cache, search);
  return ({ limit, after: key }) => {
    const after = key && matchOf(key);
    const rows = after === undefined ? ranked : ranked.filter((match) => order(after, match) < 0);
    const { rows: shown, cursor } = cutPage(rows.slice(0, limit + 1), limit, cursorAfter);
    return { rows: shown, cursor, cursorAfter };
  };
}

function cursorAfter({ tier, followed, score, followers, fid }: UserMatch): string {
  return userSearchCursor.encode([tier, followed, score, followers, fid]);
}

/** Returns all people that a search finds, in its order. */
function rankedUsers(
  db: IndexDatabase,
  cache: Pick<HydrationCache, "people" | "scores">,
  search: UserSearch,
): UserMatch[] {
  const query = peopleQuery(search.text, search.inNames);
  if (query === undefined) return [];
  const found = db.all(matches, peopleMatchOf(query));
  const candidates = new Set(found.slice(0, MAX_MATCHES).map(({ fid }) => fid));
  const followers = new Map<number, number>();
  for (const row of found.length > MAX_MATCHES ? db.all(mostFollowed) : []) {
    followers.set(row.fid, row.followers);
    candidates.add(row.fid);
  }
  for (const { fid } of db.all(ownerOfName, query.name)) candidates.add(fid);
  if (query.fid !== undefined) candidates.add(query.fid);
  const tiers = new Map<number, PeopleTier>();
  for (const [fid, person] of readPeople(db, cache, candidates)) {
    const tier = peopleTier(query, fid, person);
    if (tier !== undefined) tiers.set(fid, tier);
  }
  return rank(db, cache, { tiers, followers, viewerFid: search.viewerFid }).sort(order);
}

function matchOf([tier, followed, score, followers, fid]: Key<
  readonly ["int", "int", "int", "int", "int"]
>): Record<keyof UserMatch, number> {
  return { tier, followed, score, followers, fid };
}

function order(a: Record<keyof UserMatch, number>, b: Record<keyof UserMatch, number>): number {
  return (
    a.tier - b.tier ||
    b.followed - a.followed ||
    b.score - a.score ||
    b.followers - a.followers ||
    a.fid - b.fid
  );
}

/** Reads the values that order the people of a tier. */
function rank(
  db: IndexDatabase,
  cache: Pick<HydrationCache, "scores">,
  {
    tiers,
    followers,
    viewerFid,
  }: {
    readonly tiers: ReadonlyMap<number, PeopleTier>;
    /** The known counts; the others are added. */
    readonly followers: Map<number, number>;
    readonly viewerFid: number | undefined;
  },
): UserMatch[] {
  const fids = [...tiers.keys()];
  const json = JSON.stringify(fids);
  const uncounted = JSON.stringify(fids.filter((fid) => !followers.has(fid)));
  for (const row of db.all(followersOf, uncounted)) followers.set(row.fid, row.followers);
  const followed = new Set(
    viewerFid === undefined ? [] : db.all(followedBy, viewerFid, json).map(({ fid }) => fid),
  );
  const scores = cache.scores?.enforced.has("search") ? scoresOf(db, cache.scores.mode, fids) : undefined;
  const unknown = cache.scores?.unknown ?? 0;
  return [...tiers].map(([fid, tier]) => ({
    fid,
    tier,
    followed: followed.has(fid) ? 1 : 0,
    score: scores ? Math.round(100 * (scores.get(fid) ?? unknown)) : 0,
    followers: followers.get(fid) ?? 0,
  }));
}

/**
 * Returns the texts of the registered people among some fids. They are cached, because nearly all frequent searches read the
 * same people.
 */
export function readPeople(
  db: IndexDatabase,
  cache: Pick<HydrationCache, "people">,
  fids: Iterable<number>,
): Map<number, PersonText> {
  return readThrough(cache.people, fids, (missing) =>
    db.all(profiles, JSON.stringify(missing)).map((row) => [row.fid, personText(row)] as const),
  );
}
