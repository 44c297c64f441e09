import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { UserDataType } from "../../../protocol/wire/generated/message.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import { prefixEnd } from "../users/users.ts";

/** The most names and the most words with the prefix that are read, in alphabetical order. */
export const MAX_MATCHES = 2000;
/** The number of the most followed users that are also read when a prefix has more. */
export const MAX_MOST_FOLLOWED = 5000;

/** How a user matches, the best first: exact username, username prefix, display-name word. Cursors contain the number. */
type Tier = 0 | 1 | 2;

interface Match {
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
const matches = statement<Match, Params>(
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

type ScanParams = [prefix: string, prefixEnd: string, followers: number, fid: number, limit: number];

const isRegistered = "EXISTS (SELECT 1 FROM fids f WHERE f.fid = below.fid)";

/**
 * Declares a scan of the most followed users after a position, each with its tier, null without a match. Only the rows of a user
 * whose declared name, or a word of whose display name, has the prefix are looked up further.
 */
const declareScan = (name: string, wordTier: string) =>
  statement<{ fid: number; followers: number; tier: number | null }, ScanParams>(
    `skeleton.user-search.${name}`,
    `SELECT below.fid, below.followers,
       CASE WHEN u.value >= ?1 AND u.value < ?2 AND ${isRegistered}
           AND EXISTS (SELECT 1 FROM username_proofs p WHERE p.name = u.value AND p.fid = below.fid)
         THEN u.value > ?1 ${wordTier} END AS tier
     FROM (SELECT fid, followers FROM follow_counts WHERE followers > 0 AND (followers, fid) < (?3, ?4)
           ORDER BY followers DESC, fid DESC LIMIT ?5) below
     LEFT JOIN user_data u ON u.fid = below.fid AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME}`,
  );
const scans = {
  1: declareScan("scan-names", ""),
  2: declareScan(
    "scan-words",
    `WHEN EXISTS (SELECT 1 FROM display_name_words w
         WHERE w.fid = below.fid AND w.word >= ?1 AND w.word < ?2) AND ${isRegistered}
       THEN 2`,
  ),
} as const;
const rankOf = statement<{ rank: number }, [followers: number, fid: number]>(
  "skeleton.user-search.rank",
  `SELECT count(*) AS rank FROM (SELECT 1 FROM follow_counts WHERE followers > 0 AND (followers, fid) >= (?, ?)
   LIMIT ${MAX_MOST_FOLLOWED})`,
);
const named = statement<Match, [name: string]>(
  "skeleton.user-search.named",
  `SELECT f.fid, 0 AS tier, coalesce(n.followers, 0) AS followers
   FROM username_proofs p
   CROSS JOIN fids f ON f.fid = p.fid
   CROSS JOIN user_data u ON u.fid = p.fid AND u.type = ${UserDataType.USER_DATA_TYPE_USERNAME} AND u.value = p.name
   LEFT JOIN follow_counts n ON n.fid = f.fid
   WHERE p.name = ?`,
);
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
  query: {
    text: string;
    limit: number;
    after: readonly [tier: number, followers: number, fid: number] | undefined;
  },
): Page<Match> {
  const { text, limit, after = FROM_THE_BEST } = query;
  const prefix = text.trim().toLowerCase().replace(/^@/, "");
  if (prefix === "") return { rows: [], cursor: null };
  const end = prefixEnd(prefix);
  const { names, words } = db.get(countMatches, prefix, end) ?? { names: 0, words: 0 };
  const withMostFollowed = names > MAX_MATCHES || words > MAX_MATCHES ? 1 : 0;
  const search: Search = { prefix, end, after, limit: limit + 1 };
  const rows =
    (names > MAX_MATCHES && after[0] < 2 ? mostFollowedNamed(db, search) : undefined) ??
    (names === 0 && words > MAX_MATCHES ? mostFollowedMatches(db, search, 2) : undefined) ??
    db.all(matches, prefix, end, withMostFollowed, ...after, limit + 1);
  return cutPage(rows, limit, (last) => userSearchCursor.encode([last.tier, last.followers, last.fid]));
}

interface Search {
  readonly prefix: string;
  readonly end: string;
  readonly after: readonly [tier: number, followers: number, fid: number];
  readonly limit: number;
}

/** Returns the exact name, then the most followed users whose name matches; undefined when more users must be read. */
function mostFollowedNamed(db: IndexDatabase, search: Search): Match[] | undefined {
  const exact = db.all(named, search.prefix).filter((match) => isAfter(match, search.after));
  const others = mostFollowedMatches(db, { ...search, limit: search.limit - exact.length }, 1);
  return others && [...exact, ...others];
}

/**
 * Returns the first matches of a tier, found in a scan of the most followed users of the network: no other match has more
 * followers. Undefined when they contain too few matches.
 */
function mostFollowedMatches(
  db: IndexDatabase,
  { prefix, end, after, limit }: Search,
  tier: 1 | 2,
): Match[] | undefined {
  const found: Match[] = [];
  let position: [followers: number, fid: number] =
    after[0] === tier ? [after[1], Number.MAX_SAFE_INTEGER] : [Number.MAX_SAFE_INTEGER, 0];
  let left = MAX_MOST_FOLLOWED - (after[0] === tier ? (db.get(rankOf, ...position)?.rank ?? 0) : 0);
  let scanned = 0;
  let size = Math.min(FIRST_CHUNK, left);
  while (left > 0) {
    const users = db.all(scans[tier], prefix, end, ...position, size);
    for (const { fid, followers, tier: matched } of users) {
      const match: Match = { fid, followers, tier };
      if (matched === tier && isAfter(match, after)) found.push(match);
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
    const missing = (limit - sure.length) * (scanned / Math.max(1, sure.length)) * CHUNK_RESERVE;
    size = Math.min(left, MAX_CHUNK_GROWTH * size, Math.max(FIRST_CHUNK, Math.ceil(missing)));
  }
  return undefined;
}

function isAfter({ tier, followers, fid }: Match, after: Search["after"]): boolean {
  return tier - after[0] > 0 || (tier === after[0] && (after[1] - followers || fid - after[2]) > 0);
}
