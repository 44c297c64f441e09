import { rmSync } from "node:fs";
import { messageHash } from "../../../protocol/message/message-hash.ts";
import type { SignedMessage } from "../../../protocol/message/signed-message.ts";
import { verifyEd25519 } from "../../../protocol/validate/ed25519.ts";
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import { StorageError } from "../../sqlite/storage-error.ts";
import { StoreCounts } from "../counts/store-counts.ts";
import { setShardCount, shardCount, TotalsDelta } from "../counts/totals.ts";
import { type IndexDatabase, openIndexReader, openIndexWriter } from "../database.ts";
import { networkOfIndex } from "../identity.ts";
import { allMessages, type LiveMessage } from "../messages/live-messages.ts";
import { splitMessage } from "../messages/split.ts";
import { continueRepoints } from "../project/cast-references/repoints.ts";
import { foldOnChainEvents } from "../project/on-chain.ts";
import { project } from "../project/project.ts";
import { lacksFullText } from "../search/full-text.ts";
import { lacksPeople } from "../search/people-index.ts";
import { portableRows } from "./portable-rows.ts";

/** A table that differs from what the messages and events produce. */
export interface Difference {
  readonly table: string;
  /** Expected rows that the table lacks. */
  readonly missing: number;
  /** Rows that the table should not have. */
  readonly extra: number;
}

/** Tables that can be rebuilt from messages and events. The columns of an event repeat what its bytes say. */
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
 * Verifies the index. Checks hash and signature of every live message as its columns reproduce it, rebuilds every table from
 * these messages, the on-chain events and the fname proofs in a scratch database next to the index, and compares. Rows that
 * still have to move to other cast ids are moved first. No other connection may write to the index concurrently. These
 * queries scan whole tables, so they are not declared with the statements that serve the node.
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
      ...(lacksPeople(live) ? [] : [comparePeople(scratch)]),
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

/** Counts the rows that live messages name but that do not exist. A recount lacks them as well. */
function missingParts(live: IndexDatabase): Difference[] {
  return PARTS.flatMap(({ table, namedBy, column }) =>
    namedBy.map((by) => {
      const sql = `SELECT count(*) AS n FROM ${by} WHERE ${column} NOT IN (SELECT id FROM ${table})`;
      return { table, missing: live.sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0, extra: 0 };
    }),
  );
}

/** Fills the scratch database. Returns the tables with rows that do not yield a valid message. */
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

/** Yields the on-chain events of the live index that can be decoded. The others show up as differences of the table. */
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
  // An empty index may not belong to a network yet.
  if (live.sqlite.query("SELECT 1 FROM store_counts LIMIT 1").get() === null) return [];
  const network = networkOfIndex(live);
  // Projecting a like of a URL looks up the network's registrar.
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

/** Adds a live message to the scratch database. Returns false if its rows do not yield a valid message. */
function add(scratch: IndexDatabase, stored: LiveMessage, network: FarcasterNetwork): boolean {
  try {
    const message = stored.decode();
    project(scratch, splitMessage(message, network), message.data);
    return isValid(message);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    // A part is missing or unreadable, or the message occupies the slot of another.
    return false;
  }
}

function isValid({ dataBytes, hash, signature, signer }: SignedMessage): boolean {
  return Buffer.compare(messageHash(dataBytes), hash) === 0 && verifyEd25519(signer, hash, signature);
}

function compare(scratch: IndexDatabase, table: string): Difference {
  return differenceOf(scratch, table, { fresh: portableRows(table), live: portableRows(table, "live") });
}

/** Compares the rows of two queries. */
function differenceOf(
  scratch: IndexDatabase,
  table: string,
  { fresh, live }: { readonly fresh: string; readonly live: string },
): Difference {
  const count = (a: string, b: string) =>
    scratch.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM (${a} EXCEPT ${b})`).get()?.n ?? 0;
  return { table, missing: count(fresh, live), extra: count(live, fresh) };
}

/**
 * Compares only which casts are indexed, because the full-text index stores no text: it must have exactly the live casts.
 */
function compareSearch(scratch: IndexDatabase): Difference {
  return differenceOf(scratch, "casts_fts", {
    fresh: "SELECT id FROM live.casts",
    live: "SELECT rowid FROM live.casts_fts",
  });
}

/** Compares each word of the index of people with the fids that have it. */
function comparePeople(scratch: IndexDatabase): Difference {
  for (const schema of ["main", "live"])
    scratch.sqlite.exec(
      `CREATE VIRTUAL TABLE temp.people_${schema} USING fts5vocab('${schema}', 'people_fts', 'instance')`,
    );
  return differenceOf(scratch, "people_fts", {
    fresh: "SELECT term, doc FROM temp.people_main",
    live: "SELECT term, doc FROM temp.people_live",
  });
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}
