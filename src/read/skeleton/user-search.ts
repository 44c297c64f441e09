import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";
import { UserDataType } from "../../protocol/wire/generated/message.ts";
import { cursorCodec, cutPage, type Page } from "../cursor.ts";
import { prefixEnd } from "./users.ts";

/** Names and words with the prefix, of each so many, are looked at in alphabetical order. */
export const MAX_MATCHES = 2000;
/** Where a prefix has more, so many of the most followed users are looked at too. */
export const MAX_MOST_FOLLOWED = 5000;

/** How a user matches, the best first. The numbers stand in cursors. */
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
// Candidates may come from anywhere; whether and how each matches is judged by what it is called now.
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

export const userSearchCursor = cursorCodec("user/search", ["int", "int", "int"]);

const FROM_THE_BEST = [0, Number.MAX_SAFE_INTEGER, 0] as const;

/**
 * Users whose current username begins with a text, whatever the case: the very name first, then the most followed;
 * behind them, ranked alike, users with such a word in their display name. Where more than `MAX_MATCHES` names or words
 * begin so, the first of these and the `MAX_MOST_FOLLOWED` most followed users of the network are looked at.
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
  const rows = db.all(matches, prefix, end, withMostFollowed, ...after, limit + 1);
  return cutPage(rows, limit, (last) => userSearchCursor.encode([last.tier, last.followers, last.fid]));
}
