import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { UserDataType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { type DeclaredName, type HydrationCache, readThrough } from "../../hydrate/cache.ts";
import { prefixEnd } from "../users/users.ts";

/** The most names and the most words with the prefix that are read, in alphabetical order. */
export const MAX_MATCHES = 2000;
/** The number of the most followed users that are also read when a prefix has more. */
export const MAX_MOST_FOLLOWED = 5000;

/** How a user matches, the best first: exact username, username prefix, display-name word. Cursors contain the number. */
type Tier = 0 | 1 | 2;

/** A user that a search found. `tier` 0: by the exact username. */
export interface UserMatch {
  readonly fid: number;
  readonly tier: Tier;
  readonly followers: number;
}

type Params = [
  prefix: string,
  prefixEnd: string,
  withMostFollowed: number,
  tier: number,
  followers: number,
  fid: number,
  limit: number,
];

const countMatches = statement<{ names: number; words: number }, [prefix: string, prefixEnd: string]>(
  "skeleton.user-search.count",
  `SELECT
     (SELECT count(*) FROM (SELECT 1 FROM username_proofs WHERE name >= ?1 AND name < ?2
        LIMIT ${MAX_MATCHES + 1})) AS names,
     (SELECT count(*) FROM (SELECT 1 FROM display_name_words WHERE word >= ?1 AND word < ?2
        LIMIT ${MAX_MATCHES + 1})) AS words`,
);
// Candidates come from three sources. The current names of a candidate decide whether and how it matches.
const matches = statement<UserMatch, Params>(
  "skeleton.user-search.matches",
  `SELECT found AS fid, tier, followers FROM
     (SELECT f.fid AS found, coalesce(n.followers, 0) AS followers,
        CASE WHEN p.name = ?1 THEN 0 WHEN p.name >= ?1 AND p.name < ?2 THEN 1 ELSE 2 END AS tier
      FROM
        (SELECT fid AS candidate FROM
           (SELECT fid FROM username_proofs WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ${MAX_MATCHES})
         UNION
         SELECT fid FROM
           (SELECT fid FROM display_name_words WHERE word >= ?1 AND word < ?2
            ORDER BY word, fid LIMIT ${MAX_MATCHES})
         UNION
         SELECT fid FROM
           (SELECT fid FROM follow_counts WHERE ?3 = 1 AND followers > 0
            ORDER BY followers DESC, fid DESC LIMIT ${MAX_MOST_FOLLOWED}))
      CROSS JOIN fids f ON f.fid = candidate
      LEFT JOIN user_data u ON u.fid = f.fid AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME}
      LEFT JOIN username_proofs p ON p.name = u.value AND p.fid = f.fid
      LEFT JOIN follow_counts n ON n.fid = f.fid)
   WHERE (tier, -followers, found) > (?4, -?5, ?6)
     AND (tier < 2 OR EXISTS
       (SELECT 1 FROM display_name_words w WHERE w.fid = found AND w.word >= ?1 AND w.word < ?2))
   ORDER BY tier, followers DESC, found LIMIT ?7`,
);

const isRegistered = (fid: string) => `EXISTS (SELECT 1 FROM fids f WHERE f.fid = ${fid})`;
const MOST_FOLLOWED = `SELECT fid, followers FROM follow_counts WHERE followers > 0 AND (followers, fid) < (?1, ?2)
   ORDER BY followers DESC, fid DESC LIMIT ?3`;

interface Followed {
  readonly fid: number;
  readonly followers: number;
}

const mostFollowed = statement<Followed, [followers: number, fid: number, limit: number]>(
  "skeleton.user-search.most-followed",
  MOST_FOLLOWED,
);
const declaredNames = statement<{ fid: number; name: string | null }, [fidsJson: string]>(
  "skeleton.user-search.declared-names",
  `SELECT j.value AS fid, u.value AS name FROM json_each(?) j
   LEFT JOIN user_data u ON u.fid = j.value AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME}`,
);
/** Those of a list of fids with a name that are registered and own it. */
const owners = statement<{ fid: number }, [fidsWithNamesJson: string]>(
  "skeleton.user-search.owners",
  `SELECT j.value ->> 0 AS fid FROM json_each(?) j
   WHERE ${isRegistered("j.value ->> 0")}
     AND EXISTS (SELECT 1 FROM username_proofs p WHERE p.name = j.value ->> 1 AND p.fid = j.value ->> 0)`,
);
const followedWithWord = statement<
  Followed & { isMatch: number },
  [followers: number, fid: number, limit: number, prefix: string, prefixEnd: string]
>(
  "skeleton.user-search.followed-with-word",
  `SELECT below.fid, below.followers,
     EXISTS (SELECT 1 FROM display_name_words w WHERE w.fid = below.fid AND w.word >= ?4 AND w.word < ?5)
       AND ${isRegistered("below.fid")} AS isMatch
   FROM (${MOST_FOLLOWED}) below`,
);
const rankOf = statement<{ rank: number }, [followers: number, fid: number]>(
  "skeleton.user-search.rank",
  `SELECT count(*) AS rank FROM (SELECT 1 FROM follow_counts WHERE followers > 0 AND (followers, fid) >= (?, ?)
   LIMIT ${MAX_MOST_FOLLOWED})`,
);
const named = statement<UserMatch, [name: string]>(
  "skeleton.user-search.named",
  `SELECT f.fid, 0 AS tier, coalesce(n.followers, 0) AS followers
   FROM username_proofs p
   CROSS JOIN fids f ON f.fid = p.fid
   CROSS JOIN user_data u ON u.fid = p.fid AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME} AND u.value = p.name
   LEFT JOIN follow_counts n ON n.fid = f.fid
   WHERE p.name = ?`,
);
/** Up to this number of names, reading all of them is as fast as a scan of the most followed users. */
const FEW_NAMES = 500;
/** An optional scan that has found nothing among this many users ends. */
const MAX_WITHOUT_MATCH = 512;
const FIRST_CHUNK = 128;
const MAX_CHUNK_GROWTH = 4;
/** Users that a chunk has beyond those that would suffice at the share of matches found so far. */
const CHUNK_RESERVE = 1.25;

export const userSearchCursor = cursorCodec("user/search", ["int", "int", "int"]);

const FROM_THE_BEST = [0, Number.MAX_SAFE_INTEGER, 0] as const;

/**
 * Returns the users whose current username starts with a text, ignoring case: the exact name first, then by followers.
 * After them come, by followers, users whose display name has a word that starts with the text. When more than
 * `MAX_MATCHES` names or words match, only the first of these and the `MAX_MOST_FOLLOWED` most followed users of the
 * network are searched.
 */
export function searchUsers(
  db: IndexDatabase,
  cache: NameCache,
  query: {
    text: string;
    limit: number;
    after: readonly [tier: number, followers: number, fid: number] | undefined;
  },
): Page<UserMatch> {
  const { text, limit, after = FROM_THE_BEST } = query;
  const prefix = text.trim().toLowerCase().replace(/^@/, "");
  if (prefix === "") return { rows: [], cursor: null };
  const end = prefixEnd(prefix);
  const { names, words } = db.get(countMatches, prefix, end) ?? { names: 0, words: 0 };
  const withMostFollowed = names > MAX_MATCHES || words > MAX_MATCHES ? 1 : 0;
  const search: Search = { prefix, end, after, limit: limit + 1, cache };
  const rows =
    (names > FEW_NAMES && after[0] < 2
      ? mostFollowedNamed(db, { ...search, isOptional: names <= MAX_MATCHES })
      : undefined) ??
    (names === 0 && words > MAX_MATCHES ? mostFollowedMatches(db, search, 2) : undefined) ??
    db.all(matches, prefix, end, withMostFollowed, ...after, limit + 1);
  return cutPage(rows, limit, (last) => userSearchCursor.encode([last.tier, last.followers, last.fid]));
}

type NameCache = Pick<HydrationCache, "declaredNames">;

interface Search {
  readonly prefix: string;
  readonly end: string;
  readonly after: readonly [tier: number, followers: number, fid: number];
  readonly limit: number;
  readonly cache: NameCache;
  /** Whether reading all matches instead is cheaper than a long scan. */
  readonly isOptional?: boolean;
}

/** Returns the exact name, then the most followed users whose name matches; undefined when more users must be read. */
function mostFollowedNamed(db: IndexDatabase, search: Search): UserMatch[] | undefined {
  const exact = db.all(named, search.prefix).filter((match) => isAfter(match, search.after));
  const others = mostFollowedMatches(db, { ...search, limit: search.limit - exact.length }, 1);
  return others && [...exact, ...others];
}

/**
 * Returns the first matches of a tier, found in a scan of the most followed users of the network: no other match has more
 * followers. Undefined when they contain too few matches.
 */
function mostFollowedMatches(db: IndexDatabase, search: Search, tier: 1 | 2): UserMatch[] | undefined {
  const { after, limit, isOptional = false } = search;
  const found: UserMatch[] = [];
  let position: [followers: number, fid: number] =
    after[0] === tier ? [after[1], Number.MAX_SAFE_INTEGER] : [Number.MAX_SAFE_INTEGER, 0];
  let left = MAX_MOST_FOLLOWED - (after[0] === tier ? (db.get(rankOf, ...position)?.rank ?? 0) : 0);
  let scanned = 0;
  let size = Math.min(FIRST_CHUNK, left);
  while (left > 0) {
    const { users, matching } = (tier === 1 ? readNames : readWords)(db, search, position, size);
    for (const { fid, followers } of matching) {
      const match: UserMatch = { fid, followers, tier };
      if (isAfter(match, after)) found.push(match);
    }
    const last = users.at(-1);
    if (last === undefined || users.length < size) return undefined;
    // The next chunk may have users with as many followers as the last one.
    const sure = found.filter(({ followers }) => followers > last.followers);
    if (sure.length >= limit)
      return sure.sort((a, b) => b.followers - a.followers || a.fid - b.fid).slice(0, limit);
    position = [last.followers, last.fid];
    left -= size;
    scanned += size;
    if (isOptional && sure.length === 0 && scanned >= MAX_WITHOUT_MATCH) return undefined;
    const missing = (limit - sure.length) * (scanned / Math.max(1, sure.length)) * CHUNK_RESERVE;
    if (isOptional && sure.length > 0 && missing > 2 * left) return undefined;
    size = Math.min(left, MAX_CHUNK_GROWTH * size, Math.max(FIRST_CHUNK, Math.ceil(missing)));
  }
  return undefined;
}

type Position = readonly [followers: number, fid: number];

/** The most followed users after a position, and those of them that match. */
interface Chunk {
  readonly users: readonly Followed[];
  readonly matching: readonly Followed[];
}

/** Matches usernames, all but the exact one. The declared names are cached: nearly all searches read those of the same users. */
function readNames(db: IndexDatabase, { prefix, cache }: Search, position: Position, size: number): Chunk {
  const users = db.all(mostFollowed, ...position, size);
  const fids = users.map(({ fid }) => fid);
  const names = readDeclaredNames(db, cache, fids);
  const matches = ({ fid }: Followed) => {
    const name = names.get(fid)?.name ?? "";
    return name !== prefix && name.startsWith(prefix);
  };
  const named = users.filter(matches);
  findOwners(db, names, named);
  return { users, matching: named.filter(({ fid }) => names.get(fid)?.isOwned) };
}

/** Finds out which of some users own the names that they declare. */
export function findOwners(
  db: IndexDatabase,
  names: ReadonlyMap<number, DeclaredName>,
  users: readonly { readonly fid: number }[],
): void {
  const unknown = users.filter(({ fid }) => names.get(fid)?.isOwned === undefined);
  if (unknown.length === 0) return;
  const found = db.all(owners, JSON.stringify(unknown.map(({ fid }) => [fid, names.get(fid)?.name ?? null])));
  const owning = new Set(found.map(({ fid }) => fid));
  for (const { fid } of unknown) {
    const declared = names.get(fid);
    if (declared) declared.isOwned = owning.has(fid);
  }
}

/** Returns the declared usernames of some users. */
export function readDeclaredNames(
  db: IndexDatabase,
  cache: NameCache,
  fids: readonly number[],
): Map<number, DeclaredName> {
  return readThrough(cache.declaredNames, fids, (missing) =>
    db
      .all(declaredNames, JSON.stringify(missing))
      .map(({ fid, name }) => [fid, { name, isOwned: undefined }] as const),
  );
}

/** Matches words of display names. No username has the prefix. */
function readWords(db: IndexDatabase, { prefix, end }: Search, position: Position, size: number): Chunk {
  const users = db.all(followedWithWord, ...position, size, prefix, end);
  return { users, matching: users.filter(({ isMatch }) => isMatch === 1) };
}

function isAfter({ tier, followers, fid }: UserMatch, after: Search["after"]): boolean {
  return tier - after[0] > 0 || (tier === after[0] && (after[1] - followers || fid - after[2]) > 0);
}
