import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, pagedList } from "../../cursor.ts";

/**
 * Prefix search by member count has two exact strategies. For a rare prefix, it reads all matching channels and sorts them.
 * For a common prefix, it scans the channels by members and selects those that match. The first is cheap with few hits, the
 * second with many. A search reads at most a few thousand index entries, unless names are chosen to defeat it.
 */
const MAX_SORTED = 1000;

type Prefix = [from: string, to: string, nameFrom: string, nameTo: string];

const inRange = (column: string) => `${column} COLLATE NOCASE >= ?1 AND ${column} COLLATE NOCASE < ?2`;

const withPrefix = statement<{ id: string }, [...Prefix, limit: number]>(
  "skeleton.channel-search.with-prefix",
  `SELECT id FROM (SELECT id FROM channel_activity WHERE ${inRange("id")} LIMIT ?5)
   UNION ALL SELECT id FROM (SELECT id FROM channel_registry WHERE ${inRange("id")} LIMIT ?5)
   UNION ALL SELECT id FROM (SELECT id FROM channel_registry WHERE ${inRange("registry_id")} LIMIT ?5)
   UNION ALL SELECT id FROM (SELECT id FROM channel_registry WHERE name_key >= ?3 AND name_key < ?4 LIMIT ?5)
   UNION ALL SELECT id FROM (SELECT id FROM channels WHERE ${inRange("id")} LIMIT ?5)
   UNION ALL SELECT id FROM (SELECT id FROM channels WHERE name_key >= ?3 AND name_key < ?4 LIMIT ?5)`,
);

interface Hit {
  id: string;
  members: number;
}

const sorted = statement<Hit, [idsJson: string, members: number, afterId: string, limit: number]>(
  "skeleton.channel-search.sorted",
  `SELECT j.value AS id, coalesce(a.members, 0) AS members
   FROM json_each(?1) j LEFT JOIN channel_activity a ON a.id = j.value
   WHERE coalesce(a.members, 0) < ?2 OR (coalesce(a.members, 0) = ?2 AND j.value > ?3)
   ORDER BY members DESC, id LIMIT ?4`,
);

/** Matches by registry. `+` prevents the planner from using an index that does not have the required order. */
const REGISTRY_MATCH = `${inRange("+r.registry_id")} OR (+r.name_key >= ?3 AND +r.name_key < ?4)`;
/** Matches by the name in the channel's settings. */
const NAME_MATCH = "+c.name_key >= ?3 AND +c.name_key < ?4";

const scanActive = statement<Hit, [...Prefix, members: number, afterId: string, limit: number]>(
  "skeleton.channel-search.scan-active",
  `SELECT a.id, a.members FROM channel_activity a INDEXED BY channel_activity_by_members
   WHERE a.members <= ?5 AND (a.members < ?5 OR a.id > ?6)
     AND ((${inRange("+a.id")})
       OR EXISTS (SELECT 1 FROM channel_registry r WHERE r.id = a.id AND (${REGISTRY_MATCH}))
       OR EXISTS (SELECT 1 FROM channels c WHERE c.id = a.id AND (${NAME_MATCH})))
   ORDER BY a.members DESC, a.id LIMIT ?7`,
);
const inactive = (table: string, match: string) =>
  `SELECT id, 0 AS members FROM (SELECT r.id FROM ${table} r
   WHERE r.id > ?5 AND NOT EXISTS (SELECT 1 FROM channel_activity a WHERE a.id = r.id)
     AND ((${inRange("+r.id")}) OR ${match})
   ORDER BY r.id LIMIT ?6)`;
const scanInactive = statement<Hit, [...Prefix, afterId: string, limit: number]>(
  "skeleton.channel-search.scan-inactive",
  `${inactive("channel_registry", REGISTRY_MATCH)}
   UNION ${inactive("channels", NAME_MATCH.replaceAll("c.", "r."))}
   ORDER BY id LIMIT ?6`,
);

/**
 * Lists the channels whose id or name starts with `text`, most members first, then by id. The match ignores case; in ids,
 * only that of ASCII letters.
 */
export const searchChannels = pagedList(
  cursorCodec("channel/search", ["int", "text"]),
  (db, { text }: { readonly text: string }, { limit, after }) => {
    const prefix: Prefix = [...rangeOf(text), ...rangeOf(text.toLowerCase())];
    const members = after ? after[0] : Number.MAX_SAFE_INTEGER;
    const afterId = after ? after[1] : "";
    const candidates = db.all(withPrefix, ...prefix, MAX_SORTED + 1);
    return candidates.length <= MAX_SORTED
      ? db.all(sorted, idsJson(candidates), members, afterId, limit)
      : scanByMembers(db, prefix, { members, afterId, limit });
  },
  ({ members, id }) => [members, id],
);

function scanByMembers(
  db: IndexDatabase,
  prefix: Prefix,
  { members, afterId, limit }: { members: number; afterId: string; limit: number },
): Hit[] {
  const active = db.all(scanActive, ...prefix, members, afterId, limit);
  if (active.length === limit) return active;
  // A channel without activity has no members, so it sorts after all others.
  return [...active, ...db.all(scanInactive, ...prefix, members === 0 ? afterId : "", limit - active.length)];
}

function idsJson(candidates: readonly { id: string }[]): string {
  return JSON.stringify([...new Set(candidates.map(({ id }) => id))]);
}

/** Returns the range of texts that start with the prefix. */
function rangeOf(prefix: string): [from: string, to: string] {
  return [prefix, `${prefix}\u{10ffff}`];
}
