import type { IndexDatabase } from "../db/index/database.ts";
import { markDemo } from "../db/index/identity.ts";
import { readTotals } from "../db/index/totals.ts";
import { createIngestEngine } from "../ingest/engine.ts";
import { type IngestRecord, validateRecord } from "../ingest/record.ts";
import { Rejection } from "../protocol/rejection.ts";
import { signedMessageFromWire } from "../protocol/signed-message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type DemoRecord, demoNetwork } from "./network.ts";

const HOUR_SECS = 3600;

/**
 * Fills an empty index with the demo network, through the validation and merge that every input takes. Its week ends
 * at the last full hour, so that two starts within an hour give the same bytes. The records are one commit.
 *
 * @returns the number of records, 0 when the index held something already.
 * @throws Error when the node refuses a record of it.
 */
export function fillWithDemo(options: {
  db: IndexDatabase;
  network: FarcasterNetwork;
  clock: Clock;
}): number {
  const { db, network, clock } = options;
  const totals = readTotals(db);
  if (totals.messages + totals.on_chain_events > 0) return 0;
  const nowUnixSecs = nowSecs(clock);
  const anchorUnixSecs = nowUnixSecs - (nowUnixSecs % HOUR_SECS);
  const records: IngestRecord[] = [];
  for (const record of demoNetwork({ anchorUnixSecs, network })) {
    const read = readRecord(record);
    const refusal = read instanceof Rejection ? read : validateRecord(read, { network, nowUnixSecs });
    if (read instanceof Rejection || refusal) throw refused(refusal);
    records.push(read);
  }
  const raise = (cause: unknown): never => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network, clock, onFault: raise });
  // Before the records: a crash in between leaves an empty index that says so, never public keys without the warning.
  markDemo(db);
  for (const verdict of engine.apply(records)) if (verdict) throw refused(verdict);
  return records.length;
}

function readRecord(record: DemoRecord): IngestRecord | Rejection {
  if (record.$case === "onChainEvent") return { kind: "onChainEvent", event: record.value };
  if (record.$case === "usernameProof") return { kind: "usernameProof", proof: record.value };
  const message = signedMessageFromWire(record.value);
  return message instanceof Rejection ? message : { kind: "message", message };
}

function refused(verdict: Rejection | undefined): Error {
  return new Error(`the node refuses a record of the demo network: ${verdict?.reason}`);
}
