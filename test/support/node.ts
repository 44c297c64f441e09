import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { MergeOutcome } from "../../src/ingest/record.ts";
import {
  decodeRecord,
  type EncodedRecord,
  type IngestRecord,
  validateRecord,
} from "../../src/ingest/record.ts";
import type { RelayedOp } from "../../src/ingest/relayed-op.ts";
import { err, type Result } from "../../src/lib/result.ts";
import type { Rejection } from "../../src/protocol/rejection.ts";
import { FarcasterNetwork, UserNameProof } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { ManualClock } from "./clock.ts";
import { createIndex } from "./empty-databases.ts";
import { fnameProof, registerEvent, rentEvent, signerEvent } from "./events.ts";
import { DEFAULT_NOW_SECS, makeSigner, makeWallet } from "./messages.ts";

/** The validation and merge of a node over a real index file, without its sockets. */
export interface TestNode extends Disposable {
  readonly db: IndexDatabase;
  readonly clock: ManualClock;
  readonly dir: string;
  /** Validates and merges as every input does. Returns the refusal's code, or "ok". */
  ingest(record: EncodedRecord): string;
  ingestMessage(bytes: Uint8Array): string;
  ingestEvent(event: OnChainEvent): string;
  ingestProof(proof: UserNameProof): string;
  ingestAll(records: readonly EncodedRecord[]): string[];
  /** Merges records that were validated elsewhere, as the writer does. */
  merge(records: readonly EncodedRecord[]): MergeOutcome[];
  /** Applies operations of an upstream, in one batch. */
  relay(ops: readonly RelayedOp[]): void;
}

/** @param options `index` is a path of an index of which the node gets a copy; by default it is empty. */
export function startTestNode(
  options: { nowSecs?: number; index?: string; onEvents?: () => void } = {},
): TestNode {
  const dir = mkdtempSync(join(tmpdir(), "node-test-"));
  const db = options.index === undefined ? createIndex(dir) : openCopy(options.index, dir);
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(options.nowSecs ?? DEFAULT_NOW_SECS);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const engine = createIngestEngine({
    db,
    network,
    clock,
    onFault: (cause) => {
      throw cause;
    },
    ...(options.onEvents ? { onEvents: options.onEvents } : {}),
  });
  const ingestAll = (records: readonly EncodedRecord[]): string[] => {
    const validated = records.map((record): Result<IngestRecord, Rejection> => {
      const decoded = decodeRecord(record);
      const refusal = decoded.ok && validateRecord(decoded.value, { network, nowUnixSecs: nowSecs(clock) });
      return refusal ? err(refusal) : decoded;
    });
    const outcomes = engine.apply(validated.flatMap((record) => (record.ok ? [record.value] : [])));
    let next = 0;
    return validated.map((record) => codeOf(record.ok ? outcomes[next++] : record.error));
  };
  const ingest = (record: EncodedRecord) => ingestAll([record])[0] ?? "nothing";
  return {
    db,
    clock,
    dir,
    ingestAll,
    ingest,
    merge: (records) =>
      engine.apply(records.map(decodeRecord).flatMap((record) => (record.ok ? [record.value] : []))),
    relay: (ops) => engine.applyRelayed({ ops, positions: [] }),
    ingestMessage: (bytes) => ingest({ kind: "message", bytes }),
    ingestEvent: (event) => ingest(eventRecord(event)),
    ingestProof: (proof) => ingest(proofRecord(proof)),
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function openCopy(index: string, dir: string): IndexDatabase {
  copyFileSync(index, indexPath(dir));
  return openIndexWriter(indexPath(dir));
}

export function eventRecord(event: OnChainEvent): EncodedRecord {
  return { kind: "onChainEvent", bytes: OnChainEvent.encode(event).finish() };
}

export function proofRecord(proof: UserNameProof): EncodedRecord {
  return { kind: "usernameProof", bytes: UserNameProof.encode(proof).finish() };
}

/** The records of a full user: registered, with the key `makeSigner(fid)`, one storage unit, the fname `user<fid>`. */
export function accountRecords(fid: number, units = 1): EncodedRecord[] {
  const custody = makeWallet(`custody ${fid}`).address;
  return [
    eventRecord(registerEvent(fid, custody, { block: 1000 + fid })),
    eventRecord(signerEvent(fid, accountSigner(fid).publicKey, { block: 200_000 + fid })),
    eventRecord(rentEvent(fid, units, { block: 400_000 + fid })),
    proofRecord(fnameProof(`user${fid}`, fid, custody, DEFAULT_NOW_SECS - 50_000)),
  ];
}

/** Another storage unit, rented when the node's clock says: that of `accountRecords` has a fixed date and expires. */
export function rentNow(node: TestNode, fid: number): void {
  node.ingestEvent(rentEvent(fid, 1, { block: 500_000 + fid, at: nowSecs(node.clock) }));
}

/** The key of an fid in `accountRecords`. */
export function accountSigner(fid: number) {
  return makeSigner(`account ${fid}`);
}

function codeOf(outcome: MergeOutcome): string {
  return outcome ? outcome.code : "ok";
}
