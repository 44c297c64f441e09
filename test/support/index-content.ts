import type { IndexDatabase } from "../../src/db/index/database.ts";

/** The referents of ids in rows: the hash and author of a cast, live or missing, or a URL. */
const NAMES = `CREATE TEMP TABLE names AS
  SELECT id, 'live ' || hex(hash) || ' of ' || fid AS name FROM casts
  UNION ALL SELECT id, 'missing ' || hex(hash) || ' of ' || fid FROM missing_casts
  UNION ALL SELECT id, url FROM urls`;
const SIGNED = "hex(k.key) AS signer, hex(e.signature) AS signature, hex(e.data) AS data";
const ENVELOPE = "JOIN envelopes e ON e.id = t.envelope_id JOIN message_signers k ON k.id = e.signer_id";
const name = (column: string, as = column) =>
  `(SELECT n.name FROM names n WHERE n.id = t.${column}) AS ${as}`;

/** Each table with names in the place of ids. */
const QUERIES: Readonly<Record<string, string>> = {
  casts: `SELECT ${name("id")}, t.id >> 16 AS at, text, ${name("parent_id")}, parent_fid, hex(parent_hash) AS parent,
    ${name("parent_url_id")}, ${name("root_id")}, root_fid, hex(root_hash) AS root, ${name("root_url_id")},
    hex(rest) AS rest, ${SIGNED} FROM casts t ${ENVELOPE}`,
  reactions: `SELECT fid, target_fid, ${name("target_id")}, type, timestamp, ${SIGNED} FROM reactions t ${ENVELOPE}`,
  links: `SELECT fid, type, target_fid, timestamp, displayed_at, ${SIGNED} FROM links t ${ENVELOPE}`,
  user_data: `SELECT fid, type, value, timestamp, ${SIGNED} FROM user_data t ${ENVELOPE}`,
  messages: `SELECT fid, store, hex(slot) AS slot, kind, timestamp, hex(k.key) AS signer, hex(signature) AS signature,
    hex(data) AS data FROM messages t JOIN message_signers k ON k.id = t.signer_id`,
  envelopes: "SELECT count(*) FROM envelopes",
  missing_casts: `SELECT ${name("id")} FROM missing_casts t`,
  urls: "SELECT url FROM urls",
  cast_repoints: "SELECT count(*) FROM cast_repoints",
  cast_counts: `SELECT ${name("id")}, fid, likes, recasts, replies FROM cast_counts t`,
  cast_quotes: `SELECT ${name("quoted_id")}, ${name("cast_id")} FROM cast_quotes t`,
  cast_embed_urls: `SELECT url, ${name("cast_id")} FROM cast_embed_urls t`,
  cast_mentions: `SELECT mentioned_fid, ${name("cast_id")}, fid FROM cast_mentions t`,
  notifications: `SELECT fid, timestamp, kind, actor_fid, ${name("ref")} FROM notifications t`,
  thread_notifications: `SELECT fid, ${name("root_url_id")}, timestamp, kind, actor_fid, ${name("ref")}
    FROM thread_notifications t`,
  casts_fts: `SELECT ${name("rowid")} FROM casts_fts t`,
  totals: "SELECT name, shard, count FROM totals WHERE count != 0",
  indexes: "SELECT name, sql FROM sqlite_master WHERE tbl_name NOT GLOB '*_fts*'",
};
const AS_THEY_ARE = [
  ...["fids", "signers", "pro_tiers", "storage_lends", "store_counts", "follow_counts", "mutual_follows"],
  ...["channel_activity", "channel_members", "verifications", "username_proofs"],
  ...["on_chain_events", "gasless_keys", "key_nonces", "username_proof_rivals", "meta", "positions"],
];

/**
 * Returns the rows of every table as text, in an order that does not depend on how the index was filled, with hashes in the place
 * of row ids: equal for two indexes that hold the same.
 */
export function indexContent(db: IndexDatabase): Map<string, string[]> {
  const { sqlite } = db;
  sqlite.exec("PRAGMA query_only = OFF");
  sqlite.exec("DROP TABLE IF EXISTS temp.names");
  sqlite.exec(NAMES);
  sqlite.exec("CREATE INDEX temp.names_by_id ON names (id)");
  const content = new Map<string, string[]>();
  const queries = {
    ...QUERIES,
    ...Object.fromEntries(AS_THEY_ARE.map((one) => [one, `SELECT * FROM ${one}`])),
  };
  for (const [table, sql] of Object.entries(queries))
    content.set(table, sqlite.query<object, []>(sql).all().map(textOf).sort());
  content.set("words", searchWords(db));
  content.set("people", peopleWords(db));
  return content;
}

/** The tables in which two indexes differ, with the first rows that only one of them has. */
export function contentDifferences(
  expected: ReadonlyMap<string, readonly string[]>,
  found: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [...expected].flatMap(([table, rows]) => {
    const others = found.get(table) ?? [];
    const [a, b] = [new Set(rows), new Set(others)];
    const missing = rows.filter((row) => !b.has(row));
    const extra = others.filter((row) => !a.has(row));
    if (missing.length + extra.length === 0 && rows.length === others.length) return [];
    const first = [
      ...missing.slice(0, 2).map((row) => `- ${row}`),
      ...extra.slice(0, 2).map((row) => `+ ${row}`),
    ];
    return [`${table}: ${rows.length} expected, ${others.length} found, ${missing.length} missing`, ...first];
  });
}

/** Each word of the full-text index with the casts that have it. */
function searchWords({ sqlite }: IndexDatabase): string[] {
  sqlite.exec("DROP TABLE IF EXISTS temp.words");
  sqlite.exec("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'casts_fts', 'instance')");
  return sqlite
    .query<object, []>("SELECT w.term, n.name FROM temp.words w JOIN names n ON n.id = w.doc")
    .all()
    .map(textOf)
    .sort();
}

/** Each word of the index of people with the fids that have it. */
function peopleWords({ sqlite }: IndexDatabase): string[] {
  sqlite.exec("DROP TABLE IF EXISTS temp.people");
  sqlite.exec("CREATE VIRTUAL TABLE temp.people USING fts5vocab('main', 'people_fts', 'instance')");
  return sqlite.query<object, []>("SELECT term, doc FROM temp.people").all().map(textOf).sort();
}

function textOf(row: object): string {
  return JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? value.toHex() : value));
}
