/**
 * Converts the rows of an index to a form that does not depend on its row ids, which differ between nodes: a cast is its
 * hash and author, a URL its text, a signer its key. For tools that compare whole indexes.
 */

/** Returns the SELECT of a table's rows in portable form. `schema` is that of an attached database. */
export function portableRows(table: string, schema = "main"): string {
  const view = VIEWS[table];
  return view === undefined ? `SELECT * FROM ${schema}.${table}` : view(schema);
}

type View = (schema: string) => string;

const castOf = (schema: string, id: string) =>
  `(SELECT hex(hash) || ' of ' || fid FROM ${schema}.casts WHERE id = ${id}
    UNION ALL SELECT hex(hash) || ' of ' || fid FROM ${schema}.missing_casts WHERE id = ${id})`;

const urlOf = (schema: string, id: string) => `(SELECT url FROM ${schema}.urls WHERE id = ${id})`;

const ENVELOPE = "s.key AS signer, e.signature, e.data";

const envelopes = (schema: string) =>
  `LEFT JOIN ${schema}.envelopes e ON e.id = t.envelope_id LEFT JOIN ${schema}.message_signers s ON s.id = e.signer_id`;

const VIEWS: Readonly<Record<string, View>> = {
  envelopes: (schema) =>
    `SELECT ${ENVELOPE} FROM ${schema}.envelopes e LEFT JOIN ${schema}.message_signers s ON s.id = e.signer_id`,
  messages: (schema) =>
    `SELECT t.fid, t.store, t.slot, t.kind, t.timestamp, s.key AS signer, t.signature, t.data
     FROM ${schema}.messages t LEFT JOIN ${schema}.message_signers s ON s.id = t.signer_id`,
  urls: (schema) => `SELECT url FROM ${schema}.urls`,
  missing_casts: (schema) => `SELECT DISTINCT hash, fid FROM ${schema}.missing_casts`,
  casts: (schema) =>
    `SELECT t.hash, t.fid, t.id >> 16 AS timestamp, t.text, ${castOf(schema, "t.parent_id")} AS parent,
       t.parent_fid, t.parent_hash, ${urlOf(schema, "t.parent_url_id")} AS parent_url,
       ${castOf(schema, "t.root_id")} AS root, t.root_fid, t.root_hash,
       ${urlOf(schema, "t.root_url_id")} AS root_url, t.rest, ${ENVELOPE}
     FROM ${schema}.casts t ${envelopes(schema)}`,
  cast_counts: (schema) =>
    `SELECT ${castOf(schema, "t.id")} AS cast, t.fid, t.likes, t.recasts, t.replies FROM ${schema}.cast_counts t`,
  cast_quotes: (schema) =>
    `SELECT ${castOf(schema, "t.quoted_id")} AS quoted, ${castOf(schema, "t.cast_id")} AS cast
     FROM ${schema}.cast_quotes t`,
  cast_embed_urls: (schema) =>
    `SELECT t.url, ${castOf(schema, "t.cast_id")} AS cast FROM ${schema}.cast_embed_urls t`,
  cast_mentions: (schema) =>
    `SELECT t.mentioned_fid, ${castOf(schema, "t.cast_id")} AS cast, t.fid FROM ${schema}.cast_mentions t`,
  reactions: (schema) =>
    `SELECT t.fid, t.type, t.target_fid, iif(t.target_fid = 0, ${urlOf(schema, "t.target_id")},
       ${castOf(schema, "t.target_id")}) AS target, t.timestamp, ${ENVELOPE}
     FROM ${schema}.reactions t ${envelopes(schema)}`,
  links: (schema) =>
    `SELECT t.fid, t.type, t.target_fid, t.timestamp, t.displayed_at, ${ENVELOPE}
     FROM ${schema}.links t ${envelopes(schema)}`,
  user_data: (schema) =>
    `SELECT t.fid, t.type, t.value, t.timestamp, ${ENVELOPE} FROM ${schema}.user_data t ${envelopes(schema)}`,
  notifications: (schema) =>
    `SELECT t.fid, t.timestamp, t.kind, t.actor_fid, iif(t.ref = 0, '', ${castOf(schema, "t.ref")}) AS ref
     FROM ${schema}.notifications t`,
  thread_notifications: (schema) =>
    `SELECT t.fid, ${urlOf(schema, "t.root_url_id")} AS root_url, t.timestamp, t.kind, t.actor_fid,
       ${castOf(schema, "t.ref")} AS ref
     FROM ${schema}.thread_notifications t`,
  // A total of zero may or may not have a row.
  totals: (schema) => `SELECT name, shard, count FROM ${schema}.totals WHERE count != 0`,
};
