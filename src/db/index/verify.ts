import { rmSync } from "node:fs";
import { messageHash } from "../../protocol/message/message-hash.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { verifyEd25519 } from "../../protocol/validate/ed25519.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import { StorageError } from "../sqlite/storage-error.ts";
import { StoreCounts } from "./counts/store-counts.ts";
import { setShardCount, shardCount, TotalsDelta } from "./counts/totals.ts";
import { type IndexDatabase, openIndexReader, openIndexWriter } from "./database.ts";
import { networkOfIndex } from "./identity.ts";
import { allMessages, type LiveMessage } from "./messages/live-messages.ts";
import { splitMessage } from "./messages/split.ts";
import { foldOnChainEvents } from "./project/on-chain.ts";
import { project } from "./project/project.ts";
import { continueRepoints } from "./project/repoints.ts";
import { lacksFullText } from "./search/full-text.ts";

/** A table that differs from what the messages and events yield. */
export interface Difference {
  readonly table: string;
  /** Expected rows that the table lacks. */
  readonly missing: number;
  /** Rows that the table should not have. */
  readonly extra: number;
}

/** The tables that can be rebuilt from messages and events. The columns of an event repeat what its bytes say. */
const DERIVED_TABLES = [
  "on_chain_events",
  "envelopes",
  "messages",
  "urls",
  "missing_casts",
  "fids",
  "signers",
  "pro_tiers",
  "storage_lends",
  "store_counts",
  "casts",
  "cast_counts",
  "cast_quotes",
  "cast_embed_urls",
  "cast_mentions",
  "reactions",
  "links",
  "follow_counts",
  "mutual_follows",
  "notifications",
  "thread_notifications",
  "channel_activity",
  "channel_members",
  "user_data",
  "display_name_words",
  "verifications",
  "username_proofs",
  "totals",
];

/** Columns that name rows of tables with parts of messages. */
const PARTS = [
  { table: "envelopes", namedBy: ["casts", "reactions", "links", "user_data"], column: "envelope_id" },
  { table: "message_signers", namedBy: ["envelopes", "messages"], column: "signer_id" },
] as const;

const MESSAGES_PER_STEP = 5000;

/**
 * Verifies hash and signature of every live message as its columns give it, rebuilds every table from these messages, the
 * on-chain events and the fname proofs in a scratch database next to the index, and compares. Rows that still have to move
 * to other cast ids are moved first. No other connection may write to the index concurrently. These queries scan whole
 * tables, so they are not declared with the statements that serve the node.
 */
export function verifyIndex(path: string): Difference[] {
  finishRepoints(path);
  const scratchPath = `${path}.verify`;
  removeDatabase(scratchPath);
  const live = openIndexReader(path);
  const scratch = openIndexWriter(scratchPath);
  try {
    scratch.sqlite.exec("PRAGMA synchronous = OFF");
    scratch.sqlite.prepare("ATTACH DATABASE ? AS live").run(path);
    const invalid = rebuild(scratch, live);
    const differences = DERIVED_TABLES.map((table) => compare(scratch, table));
    return [
      ...missingParts(live),
      ...invalid,
      ...differences,
      ...(lacksFullText(live) ? [] : [compareSearch(scratch)]),
    ].filter((d) => d.missing + d.extra > 0);
  } finally {
    scratch[Symbol.dispose]();
    live[Symbol.dispose]();
    removeDatabase(scratchPath);
  }
}

function finishRepoints(path: string): void {
  using db = openIndexWriter(path);
  while (db.repoints.areAny(db)) db.transaction(() => continueRepoints(db));
}

/** Counts the rows that live messages name and that are not there: a recount lacks them as well. */
function missingParts(live: IndexDatabase): Difference[] {
  return PARTS.flatMap(({ table, namedBy, column }) =>
    namedBy.map((by) => {
      const sql = `SELECT count(*) AS n FROM ${by} WHERE ${column} NOT IN (SELECT id FROM ${table})`;
      return { table, missing: live.sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0, extra: 0 };
    }),
  );
}

/** Fills the scratch database. Returns the tables with rows that give no valid message. */
function rebuild(scratch: IndexDatabase, live: IndexDatabase): Difference[] {
  setShardCount(scratch, shardCount(live));
  const totals = new TotalsDelta(scratch);
  rebuildRegistry(scratch, totals);
  const invalid = rebuildMessages(scratch, live, totals);
  while (scratch.repoints.areAny(scratch)) scratch.transaction(() => continueRepoints(scratch));
  scratch.transaction(() => {
    const fids = scratch.sqlite.query<{ fid: number }, []>("SELECT fid FROM main.fids");
    for (const { fid } of fids.iterate()) totals.add("fids", fid, 1);
    totals.flush(scratch);
  });
  return invalid;
}

function rebuildRegistry(scratch: IndexDatabase, totals: TotalsDelta): void {
  scratch.transaction(() => {
    scratch.sqlite.exec(
      "INSERT INTO main.username_proofs SELECT * FROM live.username_proofs WHERE message_hash IS NULL",
    );
    const insert = scratch.sqlite.prepare(
      "INSERT OR IGNORE INTO main.on_chain_events VALUES (?, ?, ?, ?, ?, ?)",
    );
    for (const [event, bytes] of liveEvents(scratch)) {
      const { type, fid, blockNumber, logIndex, blockTimestamp } = event;
      insert.run(type, fid, blockNumber, logIndex, blockTimestamp, bytes);
      totals.add("on_chain_events", fid, 1);
    }
    // The state of an fid is computed from all of its events.
    for (const [event] of liveEvents(scratch)) foldOnChainEvents(scratch, event);
  });
}

/** Yields the on-chain events of the live index that can be decoded. The table differs by the others. */
function* liveEvents(scratch: IndexDatabase): Generator<[OnChainEvent, bytes: Uint8Array]> {
  const rows = scratch.sqlite.prepare<{ bytes: Uint8Array }, []>("SELECT bytes FROM live.on_chain_events");
  for (const { bytes } of rows.iterate()) {
    const event = decodedEvent(bytes);
    if (event) yield [event, bytes];
  }
}

function decodedEvent(bytes: Uint8Array): OnChainEvent | undefined {
  try {
    return OnChainEvent.decode(bytes);
  } catch {
    return undefined;
  }
}

function rebuildMessages(scratch: IndexDatabase, live: IndexDatabase, totals: TotalsDelta): Difference[] {
  // An empty index may belong to no network yet.
  if (live.sqlite.query("SELECT 1 FROM store_counts LIMIT 1").get() === null) return [];
  const network = networkOfIndex(live);
  // Projecting the like of a URL asks for the registrar of the network.
  scratch.network = network;
  const counts = new StoreCounts(scratch);
  const invalid = new Map<string, number>();
  const messages = allMessages(live, network);
  let isDone = false;
  while (!isDone) {
    scratch.transaction(() => {
      for (let step = 0; step < MESSAGES_PER_STEP; step++) {
        const { value: stored, done } = messages.next();
        isDone = done === true;
        if (!stored) break;
        const { table } = stored.columns;
        if (!add(scratch, stored, network)) invalid.set(table, (invalid.get(table) ?? 0) + 1);
        counts.add(stored.fid, stored.store, 1);
        totals.add("messages", stored.fid, 1);
        if (table === "casts" || table === "reactions" || table === "links") totals.add(table, stored.fid, 1);
      }
      counts.flush();
    });
  }
  return [...invalid].map(([table, extra]) => ({ table, missing: 0, extra }));
}

/** Adds a live message to the scratch database. Returns false if its rows do not give a valid message. */
function add(scratch: IndexDatabase, stored: LiveMessage, network: FarcasterNetwork): boolean {
  try {
    const message = stored.decode();
    project(scratch, splitMessage(message, network), message.data);
    return isValid(message);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    // A part is missing or unreadable, or the message is in the slot of another.
    return false;
  }
}

function isValid({ dataBytes, hash, signature, signer }: SignedMessage): boolean {
  return Buffer.compare(messageHash(dataBytes), hash) === 0 && verifyEd25519(signer, hash, signature);
}

function compare(scratch: IndexDatabase, table: string): Difference {
  const count = (a: string, b: string) =>
    scratch.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM (${a} EXCEPT ${b})`).get()?.n ?? 0;
  const fresh = portableRows(table);
  const live = portableRows(table, "live");
  return { table, missing: count(fresh, live), extra: count(live, fresh) };
}

/** The full-text index stores no text to compare: it must have exactly the live casts. */
function compareSearch(scratch: IndexDatabase): Difference {
  const count = (a: string, b: string) =>
    scratch.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM (${a} EXCEPT ${b})`).get()?.n ?? 0;
  const live = "SELECT id FROM live.casts";
  const found = "SELECT rowid FROM live.casts_fts";
  return { table: "casts_fts", missing: count(live, found), extra: count(found, live) };
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/**
 * The rows of an index in a form that does not depend on its row ids, which differ between nodes: a cast is its hash and author,
 * a URL its text, a signer its key. For tools that compare whole indexes.
 */

/** Returns the SELECT of a table's rows in portable form. `schema`: that of an attached database. */
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
