import type { IndexDatabase } from "../db/index/database.ts";
import { markDemo } from "../db/index/identity.ts";
import { readTotals } from "../db/index/totals.ts";
import { createIngestEngine } from "../ingest/engine.ts";
import { type IngestRecord, validateRecord } from "../ingest/record.ts";
import { ok, type Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import { signedMessageFromWire } from "../protocol/signed-message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type DemoRecord, demoNetwork } from "./network.ts";

const HOUR_SECS = 3600;

/**
 * Fills an empty index with the demo network, through the validation and merge of every input. Its week ends at the
 * last full hour, so that two starts within an hour produce the same bytes. All records are one commit.
 * @returns the number of records, or 0 when the index was not empty.
 * @throws Error when the node refuses a record.
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
    if (!read.ok) throw refused(read.error);
    const refusal = validateRecord(read.value, { network, nowUnixSecs });
    if (refusal) throw refused(refusal);
    records.push(read.value);
  }
  const raise = (cause: unknown): never => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network, clock, onFault: raise });
  // Written before the records: a crash in between leaves an empty index that is marked as a demo, never public keys
  // without the warning.
  markDemo(db);
  for (const outcome of engine.apply(records)) if (outcome) throw refused(outcome);
  return records.length;
}

function readRecord(record: DemoRecord): Result<IngestRecord, Rejection> {
  if (record.$case === "onChainEvent") return ok({ kind: "onChainEvent", event: record.value });
  if (record.$case === "usernameProof") return ok({ kind: "usernameProof", proof: record.value });
  const message = signedMessageFromWire(record.value);
  return message.ok ? ok({ kind: "message", message: message.value }) : message;
}

function refused({ reason }: Rejection): Error {
  return new Error(`the node refuses a record of the demo network: ${reason}`);
}
