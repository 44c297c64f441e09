import type { IndexDatabase } from "../database.ts";

/** A table that differs from what the messages and events produce. */
export interface Difference {
  readonly table: string;
  /** Expected rows that the table lacks. */
  readonly missing: number;
  /** Rows that the table should not have. */
  readonly extra: number;
}

/** What is compared of a table. Columns that the signatures of the messages cover are left out. */
interface Compared {
  /** SQL expressions. */
  readonly values: readonly string[];
  /** Columns with ids of casts, live or missing. */
  readonly castIds?: readonly string[];
  /** Columns with ids of URLs. */
  readonly urlIds?: readonly string[];
  readonly where?: string;
}

/** What is compared of each table that can be rebuilt. The columns of an event repeat what its bytes say. */
export const COMPARED: Readonly<Record<string, readonly Compared[]>> = {
  on_chain_events: [{ values: ["*"] }],
  messages: [{ values: ["fid", "store", "slot", "kind", "timestamp"] }],
  urls: [{ values: ["url"] }],
  missing_casts: [{ values: ["hash", "fid"] }],
  fids: [{ values: ["*"] }],
  signers: [{ values: ["*"] }],
  pro_tiers: [{ values: ["*"] }],
  storage_lends: [{ values: ["*"] }],
  store_counts: [{ values: ["*"] }],
  casts: [
    {
      values: ["hash", "fid", "parent_fid", "parent_hash", "root_fid", "root_hash"],
      castIds: ["id", "parent_id", "root_id"],
      urlIds: ["parent_url_id", "root_url_id"],
    },
  ],
  cast_counts: [{ values: ["fid", "likes", "recasts", "replies"], castIds: ["id"] }],
  cast_quotes: [{ values: [], castIds: ["quoted_id", "cast_id"] }],
  cast_embed_urls: [{ values: ["url"], castIds: ["cast_id"] }],
  cast_mentions: [{ values: ["mentioned_fid", "fid"], castIds: ["cast_id"] }],
  reactions: [
    {
      values: ["fid", "type", "target_fid", "timestamp"],
      castIds: ["target_id"],
      where: "target_fid != 0",
    },
    { values: ["fid", "type", "timestamp"], urlIds: ["target_id"], where: "target_fid = 0" },
  ],
  links: [{ values: ["fid", "type", "target_fid", "timestamp", "displayed_at"] }],
  follow_counts: [{ values: ["*"] }],
  mutual_follows: [{ values: ["*"] }],
  notifications: [{ values: ["fid", "timestamp", "kind", "actor_fid"], castIds: ["ref"] }],
  thread_notifications: [
    { values: ["fid", "timestamp", "kind", "actor_fid"], castIds: ["ref"], urlIds: ["root_url_id"] },
  ],
  channel_activity: [{ values: ["*"] }],
  channel_members: [{ values: ["*"] }],
  user_data: [{ values: ["fid", "type", "value", "timestamp"] }],
  verifications: [{ values: ["*"] }],
  username_proofs: [{ values: ["*"] }],
  // A total of zero may or may not have a row.
  totals: [{ values: ["*"], where: "count != 0" }],
};

/** The parts of messages that rows name by ids. */
const ENVELOPES = (schema: string) =>
  `SELECT substr(s.key, 1, 8) AS signer, substr(e.signature, 1, 8) AS signature, e.data IS NULL AS is_plain
   FROM ${schema}.envelopes e LEFT JOIN ${schema}.message_signers s ON s.id = e.signer_id`;

/** Casts of one index, apart from missing ones, whose id the other one does not give to the same cast. */
const otherCasts = (schema: string, other: string) =>
  `SELECT id, hash, fid FROM ${schema}.casts c
   WHERE NOT EXISTS (SELECT 1 FROM ${other}.casts o WHERE o.id = c.id AND o.hash = c.hash AND o.fid = c.fid)`;
const withMissing = (casts: string, schema: string) =>
  `${casts} UNION ALL SELECT id, hash, fid FROM ${schema}.missing_casts`;

/** An id without a name, which equals no id of the scratch database. */
const UNKNOWN = "'unknown'";

/** The id in the scratch database of each id in the live one, by its name, in order of the live ids. */
const idMap = (table: string, name: string, main: string, live: string) => [
  `CREATE TABLE main.${table} (live_id INTEGER PRIMARY KEY, id NOT NULL)`,
  `INSERT INTO main.${table} (live_id, id)
   SELECT live_id, id FROM (
     SELECT max(iif(is_live, id, NULL)) AS live_id, max(iif(is_live, NULL, id)) AS id
     FROM (SELECT 0 AS is_live, * FROM (${main}) UNION ALL SELECT 1, * FROM (${live})) GROUP BY ${name})
   WHERE live_id IS NOT NULL AND id IS NOT NULL GROUP BY +live_id, +id`,
];

// Row ids differ between two indexes, and a name for each id would be a look-up at a random place. So the names are compared
// once, which yields the ids that differ. The ids of the live index are replaced by those of the scratch database while the
// rows are sorted by them (see `bulkStatement` about GROUP BY). Then the rows of both are sorted together, and equal ones
// cancel each other out. All of it reads and writes from beginning to end.
const ID_MAPS = [
  `CREATE TABLE main.verified_other_casts AS ${otherCasts("main", "live")}`,
  ...idMap(
    "verified_casts",
    "hash, fid",
    withMissing("SELECT * FROM main.verified_other_casts", "main"),
    withMissing(otherCasts("live", "main"), "live"),
  ),
  // In the live index these ids name another cast or none.
  `INSERT OR IGNORE INTO main.verified_casts (live_id, id) SELECT id, ${UNKNOWN} FROM main.verified_other_casts`,
  ...idMap("verified_urls", "url", "SELECT id, url FROM main.urls", "SELECT id, url FROM live.urls"),
];

/**
 * Compares the tables of the scratch database (`main`) with those of the index that is attached to it as `live`. Sorts take
 * memory up to the size of the page cache, then files.
 */
export function compareTables(scratch: IndexDatabase): Difference[] {
  for (const sql of ID_MAPS) scratch.sqlite.exec(sql);
  const tables = Object.entries(COMPARED).map(([table, parts]) => {
    const found = parts.map((part) => differenceOf(scratch, table, comparison(scratch, table, part)));
    return found.reduce((a, b) => ({ table, missing: a.missing + b.missing, extra: a.extra + b.extra }));
  });
  return [
    differenceOf(scratch, "envelopes", { fresh: ENVELOPES("main"), live: ENVELOPES("live") }),
    ...tables,
  ];
}

interface Comparison {
  readonly fresh: string;
  readonly live: string;
}

/** Returns the rows of a table in both databases, with the ids of the scratch database. */
export function comparison(scratch: IndexDatabase, table: string, part: Compared): Comparison {
  const { castIds = [], urlIds = [], where } = part;
  const ids = [...castIds, ...urlIds];
  const values = part.values.flatMap((value) => (value === "*" ? columnsOf(scratch, table) : [value]));
  const names = [...values, ...ids];
  const of = (schema: string) =>
    `SELECT ${names.join(", ")} FROM ${schema}.${table}${where === undefined ? "" : ` WHERE ${where}`}`;
  const live = ids.reduce((sql, id) => {
    const isCast = castIds.includes(id);
    const unmapped = isCast
      ? `iif(t.${id} < 0, ${UNKNOWN}, t.${id})`
      : `iif(t.${id} IS NULL, NULL, ${UNKNOWN})`;
    const columns = names.map((name) => (name === id ? `coalesce(m.id, ${unmapped}) AS ${id}` : `t.${name}`));
    const order = [id, ...names.filter((name) => name !== id)].map((name) => `+${name}`);
    return `SELECT ${columns.join(", ")}
      FROM (SELECT * FROM (${sql}) GROUP BY ${order.join(", ")}) t
      LEFT JOIN main.${isCast ? "verified_casts" : "verified_urls"} m ON m.live_id = t.${id}`;
  }, of("live"));
  return { fresh: of("main"), live };
}

function columnsOf({ sqlite }: IndexDatabase, table: string): string[] {
  return sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?, 'main')")
    .all(table)
    .map(({ name }) => name);
}

/** Counts the rows of two queries that have no equal in the other one. */
export function differenceOf(scratch: IndexDatabase, table: string, { fresh, live }: Comparison): Difference {
  const columns = scratch.sqlite.prepare(fresh);
  const names = columns.columnNames.join(", ");
  columns.finalize();
  const query = scratch.sqlite.prepare<{ missing: number; extra: number }, []>(
    `SELECT ifnull(sum(max(side, 0)), 0) AS missing, ifnull(sum(max(-side, 0)), 0) AS extra FROM (
       SELECT sum(side) AS side
       FROM (SELECT 1 AS side, * FROM (${fresh}) UNION ALL SELECT -1, * FROM (${live})) GROUP BY ${names})`,
  );
  try {
    return { table, missing: 0, extra: 0, ...query.get() };
  } finally {
    query.finalize();
  }
}
