import { writeSync } from "node:fs";
import { benchRecords } from "../../../bench/network.ts";
import { openIndexWriter } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import type { IngestRecord } from "../../../src/ingest/record.ts";
import { messageHash } from "../../../src/protocol/message/message-hash.ts";
import { FarcasterNetwork, MessageData, MessageType } from "../../../src/protocol/wire/generated/message.ts";

/**
 * Writes a network to an index in many small commits, and removes every tenth cast after the next ones. Arguments: the path of the index,
 * the number of messages. Prints a line when the index is open.
 */
const PER_COMMIT = 20;
const FIDS = 40;
const REMOVED_EVERY = 10;
const [path = "", count = "0"] = process.argv.slice(2);
const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
using db = openIndexWriter(path);
claimNetwork(db, "mainnet");
const onFault = (cause: unknown) => {
  throw cause;
};
const engine = createIngestEngine({ db, network, clock: { nowMs: () => Date.now() }, onFault });
writeSync(1, "open\n");

/** The merge does not verify signatures. */
function seal(data: MessageData): IngestRecord {
  const dataBytes = MessageData.encode(data).finish();
  const hash = messageHash(dataBytes);
  const [signature, signer] = [new Uint8Array(64), signers.get(data.fid) ?? new Uint8Array(32)];
  return {
    kind: "message",
    message: { data, dataBytes, hash, hashScheme: 1, signature, signatureScheme: 1, signer },
  };
}

const signers = new Map<number, Uint8Array>();
let batch: IngestRecord[] = [];
let removes: IngestRecord[] = [];
let casts = 0;

function flush(): void {
  const refused = engine
    .apply(batch)
    .find((one) => one && one.code !== "bad_request.duplicate" && one.code !== "bad_request.conflict");
  if (refused) throw new Error(`refused: ${refused.reason}`);
  batch = removes;
  removes = [];
}

for (const record of benchRecords(Number(count), FIDS, seal)) {
  if (record.kind === "onChainEvent" && record.event.body?.$case === "signerEventBody")
    signers.set(record.event.fid, record.event.body.value.key);
  batch.push(record);
  if (record.kind === "message" && record.message.data.type === MessageType.MESSAGE_TYPE_CAST_ADD) {
    casts += 1;
    const { fid, timestamp } = record.message.data;
    const body = { $case: "castRemoveBody" as const, value: { targetHash: record.message.hash } };
    const type = MessageType.MESSAGE_TYPE_CAST_REMOVE;
    if (casts % REMOVED_EVERY === 0)
      removes.push(seal({ type, fid, timestamp: timestamp + 1, network, body }));
  }
  if (batch.length >= PER_COMMIT) flush();
}
flush();
flush();
