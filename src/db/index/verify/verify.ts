import { messageHash } from "../../../protocol/message/message-hash.ts";
import type { SignedMessage } from "../../../protocol/message/signed-message.ts";
import { verifyEd25519 } from "../../../protocol/validate/ed25519.ts";
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import { asStorageError, StorageError } from "../../sqlite/storage-error.ts";
import type { BulkBuild } from "../bulk/bulk-state.ts";
import { openBulkBuild } from "../bulk/open-bulk-build.ts";
import { MessagePacker } from "../bulk/packed-messages.ts";
import { sortIntoFiles } from "../bulk/sort-files.ts";
import { setShardCount, shardCount } from "../counts/totals.ts";
import { type IndexDatabase, openIndexReader, openIndexWriter } from "../database.ts";
import { networkOfIndex } from "../identity.ts";
import { rebuildMessage } from "../messages/rebuild.ts";
import { splitMessage } from "../messages/split.ts";
import { continueRepoints } from "../project/cast-references/repoints.ts";
import { addUsernameProof } from "../project/profile.ts";
import { lacksFullText, turnOffFullText } from "../search/full-text.ts";
import { lacksPeople } from "../search/people-index.ts";
import { type ScannedMessage, scanRows } from "../upgrade/scan-messages.ts";
import { compareTables, type Difference, differenceOf } from "./compare-tables.ts";
import { copyNameProofs, type VerifyOptions } from "./name-proofs.ts";
import { dropScratchFile, scratchFileOf } from "./scratch-file.ts";

/** Columns that name rows of tables with parts of messages. */
const PARTS = [
  { table: "envelopes", namedBy: ["casts", "reactions", "links", "user_data"], column: "envelope_id" },
  { table: "message_signers", namedBy: ["envelopes", "messages"], column: "signer_id" },
] as const;

const MESSAGES_PER_STEP = 5000;

/**
 * Verifies the index. Checks hash and signature of every live message as its columns reproduce it, and every fname proof,
 * builds every table from these messages, the on-chain events and the proofs in a scratch database next to the index, and
 * compares. Rows that still have to move to other cast ids are moved first. No other connection may write to the index
 * concurrently. These queries scan whole tables, so they are not declared with the statements that serve the node. What it
 * reads and writes per message does not depend on the size of the index.
 */
export function verifyIndex(path: string, options: VerifyOptions = {}): Difference[] {
  finishRepoints(path);
  dropScratchFile(path);
  try {
    using live = openIndexReader(path);
    using scratch = openIndexWriter(scratchFileOf(path));
    scratch.sqlite.exec("PRAGMA synchronous = OFF");
    scratch.sqlite.prepare("ATTACH DATABASE ? AS live").run(path);
    const invalid = rebuild(scratch, live, options);
    const restore = sortIntoFiles(scratch);
    try {
      return [
        ...missingParts(live),
        ...invalid,
        ...compareTables(scratch),
        ...(lacksFullText(live) ? [] : [compareSearch(scratch)]),
        ...(lacksPeople(live) ? [] : [comparePeople(scratch)]),
      ].filter((d) => d.missing + d.extra > 0);
    } finally {
      restore();
    }
  } catch (cause) {
    throw asStorageError({ database: "index", file: path }, cause);
  } finally {
    dropScratchFile(path);
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
function rebuild(scratch: IndexDatabase, live: IndexDatabase, options: VerifyOptions): Difference[] {
  setShardCount(scratch, shardCount(live));
  // The texts of casts are not compared.
  turnOffFullText(scratch);
  scratch.search.isOn = false;
  const invalidProofs = copyRecords(scratch, live, options);
  const bulk = openBulkBuild(scratch);
  const invalid = spoolMessages(scratch, live, bulk);
  // The directory of sorts is that of the process, and the scan has reset it.
  sortIntoFiles(scratch);
  while (bulk.step());
  return [invalidProofs, ...invalid];
}

/** Copies what cannot be built from messages. Returns how many proofs of names are invalid. */
function copyRecords(scratch: IndexDatabase, live: IndexDatabase, options: VerifyOptions): Difference {
  return scratch.transaction(() => {
    const invalidProofs = copyNameProofs(scratch, live, options);
    const insert = scratch.sqlite.prepare(
      "INSERT OR IGNORE INTO main.on_chain_events VALUES (?, ?, ?, ?, ?, ?)",
    );
    for (const [event, bytes] of liveEvents(scratch)) {
      const { type, fid, blockNumber, logIndex, blockTimestamp } = event;
      insert.run(type, fid, blockNumber, logIndex, blockTimestamp, bytes);
    }
    return invalidProofs;
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

function spoolMessages(scratch: IndexDatabase, live: IndexDatabase, bulk: BulkBuild): Difference[] {
  // An empty index may not belong to a network yet.
  if (live.sqlite.query("SELECT 1 FROM store_counts LIMIT 1").get() === null) return [];
  const network = networkOfIndex(live);
  const invalid = new Map<string, number>();
  const messages = scanRows(live);
  let isDone = false;
  while (!isDone) {
    bulk.append(() => {
      const packer = new MessagePacker();
      for (let step = 0; step < MESSAGES_PER_STEP; step++) {
        const { value: scanned, done } = messages.next();
        isDone = done === true;
        if (!scanned) break;
        const { table } = scanned.columns;
        if (!add(scratch, packer, scanned, network)) invalid.set(table, (invalid.get(table) ?? 0) + 1);
      }
      return [packer.finish()];
    });
  }
  return [...invalid].map(([table, extra]) => ({ table, missing: 0, extra }));
}

/** Adds a live message to the scratch database. Returns false if its rows do not yield a valid message. */
function add(
  scratch: IndexDatabase,
  packer: MessagePacker,
  { columns, envelope, hash }: ScannedMessage,
  network: FarcasterNetwork,
): boolean {
  try {
    const message = rebuildMessage(columns, envelope, network, hash);
    const { data } = message;
    packer.add(splitMessage(message, network));
    if (data.body?.$case === "usernameProofBody")
      addUsernameProof(scratch, data.body.value, { timestamp: data.timestamp, hash: message.hash });
    return isValid(message);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    // A part is missing or unreadable, or another message has proven the same name.
    return false;
  }
}

function isValid({ dataBytes, hash, signature, signer }: SignedMessage): boolean {
  return Buffer.compare(messageHash(dataBytes), hash) === 0 && verifyEd25519(signer, hash, signature);
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
