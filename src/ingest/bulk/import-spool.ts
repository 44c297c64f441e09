import type { PackedMessages } from "../../db/index/bulk/bulk-state.ts";
import { spooledSlots } from "../../db/index/bulk/spool-tables.ts";
import type { StoreCounts } from "../../db/index/counts/store-counts.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isChannelMessage } from "../../protocol/channels/slots.ts";
import { Store, slotOf } from "../../protocol/message/merge-rules.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { isHistory } from "../events.ts";
import { admitByRegistry } from "../merge/admit.ts";
import type { MergeContext } from "../merge/merge.ts";
import { decodeRecord, type EncodedRecord, type IngestRecord } from "../record.ts";
import { defer, deferredAfter } from "./deferred-records.ts";
import {
  candidateAt,
  candidateSigner,
  rowsStart,
  SlotFilter,
  type SpoolCandidate,
  type SpoolCandidates,
  slotHash,
} from "./spool-candidates.ts";
import type { ValidatedRecords } from "./verify/verifier.ts";

/** Store numbers are smaller than this. */
const STORES = 128;
const EVERY_STORE = 0;
const RECORDS_PER_READ = 1000;

/** A record of an import with its position in the file. */
export interface ImportedRecord {
  readonly record: EncodedRecord;
  readonly offset: number;
}

/** Records of an import with the results of their validation, including candidates. */
export interface ImportedBatch {
  readonly records: readonly ImportedRecord[];
  readonly validated: ValidatedRecords;
}

/** The outcome of a record: undefined if it was stored, otherwise why it was refused, or that it waits. */
export type SpoolOutcome = Rejection | "deferred" | undefined;

/** How a batch is processed. */
interface Taking {
  readonly context: MergeContext;
  /** Outcomes that are already known, by the index of the record. These records are skipped. */
  readonly known: ReadonlyMap<number, Rejection>;
  /** Called before each record. */
  readonly onRecord: (at: number) => void;
  /** Merges a record at once. */
  readonly merge: (record: IngestRecord) => Rejection | undefined;
}

/**
 * Decides which records of an import go to the spool of the bulk build. The order of records matters only within one store
 * of one fid, except for names, verifications, addresses and lends. Therefore a message goes to the spool as long as merging
 * would only add it: its slot is free and its store has room. From the first message for which that is not certain, all
 * messages of that store of the fid wait, and are merged in order once the index is built; for user data, which never
 * exceeds a limit, only those of the same slot wait. On-chain events are merged at once, so that admission is the same as
 * without a spool; only rents wait after waiting messages of their fid. Gasless keys depend on too much: from the first key
 * message on, every record waits.
 */
export class ImportSpool {
  readonly #db: IndexDatabase;
  readonly #network: FarcasterNetwork;
  readonly #counts: StoreCounts;
  readonly #slots: SlotFilter;
  /** By fid and store. */
  readonly #waiting = new Set<number>();
  /** Fids with waiting records. */
  readonly #fids = new Set<number>();
  #allWait = false;
  #last = 0;

  constructor(deps: {
    readonly db: IndexDatabase;
    readonly network: FarcasterNetwork;
    readonly counts: StoreCounts;
    readonly expectedMessages: number;
  }) {
    this.#db = deps.db;
    this.#network = deps.network;
    this.#counts = deps.counts;
    this.#slots = new SlotFilter(deps.expectedMessages);
    for (const { fid, store, slot } of spooledSlots(deps.db)) this.#slots.add(slotHash(fid, store, slot));
    for (let after = -1; ; ) {
      const page = deferredAfter(deps.db, after, RECORDS_PER_READ);
      for (const { number, record, isAdmitted } of page) {
        after = number;
        this.#last = number;
        if (!isAdmitted && record.kind === "message") this.#allWait = true;
        this.#wait(decodeValid(record));
      }
      if (page.length < RECORDS_PER_READ) break;
    }
  }

  /** Whether every further record waits. */
  get allWait(): boolean {
    return this.#allWait;
  }

  /**
   * Takes the valid records of a batch inside a transaction: merges them, defers them, or returns them as rows for the
   * caller to append to the spool.
   */
  take(
    { records, validated }: ImportedBatch,
    taking: Taking,
  ): { outcomes: SpoolOutcome[]; rows: PackedMessages[] } {
    const outcomes: SpoolOutcome[] = [];
    const rows: PackedMessages[] = [];
    for (const part of validated.candidates) {
      const first = outcomes.length;
      const spooled = new SpooledRanges(part);
      for (let n = 0; n < part.count; n++) {
        const at = first + n;
        const imported = records[at];
        if (!imported) throw new RangeError("candidates without records");
        const known = validated.refusals.get(at) ?? taking.known.get(at);
        if (!known) taking.onRecord(at);
        const outcome = known ?? this.#takeOne(imported, part, n, taking);
        if (outcome === "spooled") spooled.add(n);
        outcomes.push(outcome === "spooled" ? undefined : outcome);
      }
      rows.push(...spooled.finish());
    }
    return { outcomes, rows };
  }

  #takeOne(
    { record, offset }: ImportedRecord,
    part: SpoolCandidates,
    at: number,
    taking: Taking,
  ): SpoolOutcome | "spooled" {
    const candidate = candidateAt(part, at);
    if (!candidate) return this.#takeOther(record, offset, taking);
    const { context } = taking;
    if (!this.#allWait) {
      const signer = candidateSigner(part, at);
      const isKnown = !candidate.needsPro && context.signers.isActive(candidate.fid, signer);
      const refusal = isKnown ? undefined : this.#admit(context, decodeValid(record));
      if (refusal) return refusal;
    }
    if (this.#isSpooled(context, candidate)) {
      this.#counts.add(candidate.fid, candidate.store, 1);
      return "spooled";
    }
    return this.#defer(decodeValid(record), record, offset);
  }

  #takeOther(encoded: EncodedRecord, offset: number, { context, merge }: Taking): SpoolOutcome {
    const record = decodeValid(encoded);
    if (record.kind === "onChainEvent") {
      const { type, fid } = record.event;
      const isRent = type === OnChainEventType.EVENT_TYPE_STORAGE_RENT;
      const waits = this.#allWait || (isRent && this.#fids.has(fid));
      return waits ? this.#defer(record, encoded, offset) : merge(record);
    }
    if (record.kind === "message" && !this.#allWait) {
      const refusal = this.#admit(context, record);
      if (refusal) return refusal;
      const name = record.message.data.body?.$case;
      if (name === "keyAddBody" || name === "keyRemoveBody") this.#allWait = true;
    }
    return this.#defer(record, encoded, offset);
  }

  #admit({ nowSecs, signers }: MergeContext, record: IngestRecord): Rejection | undefined {
    if (record.kind !== "message") return undefined;
    const { message } = record;
    const admittedAtSecs = Math.min(toUnixSecs(message.data.timestamp), nowSecs);
    const context = { db: this.#db, network: this.#network, nowSecs: admittedAtSecs, signers };
    return admitByRegistry(context, message);
  }

  /** Decides on a message whose author the registry admits. */
  #isSpooled({ limits, nowSecs }: MergeContext, candidate: SpoolCandidate): boolean {
    const { fid, store, slot, timestamp } = candidate;
    if (this.#allWait) return false;
    if (!isHistory({ happenedAt: timestamp }, nowSecs)) return false;
    if (this.#waiting.has(fid * STORES + store) || this.#waiting.has(fid * STORES + EVERY_STORE))
      return false;
    // Waiting user data is in the filter too.
    if (this.#slots.add(slot)) return false;
    return this.#counts.get(fid, store) < limits.limit(fid, store, nowSecs);
  }

  #defer(record: IngestRecord, encoded: EncodedRecord, offset: number): "deferred" {
    this.#wait(record);
    defer(this.#db, { number: ++this.#last, offset, record: encoded, isAdmitted: !this.#allWait });
    return "deferred";
  }

  #wait(record: IngestRecord): void {
    if (record.kind !== "message") return;
    const { message } = record;
    const { fid } = message.data;
    if (isChannelMessage(message.data)) return void this.#fids.add(fid);
    const { store, slot } = slotOf(message);
    this.#fids.add(fid);
    if (store === Store.UserData) this.#slots.add(slotHash(fid, store, slot));
    // A lend changes the limits of all stores of its fid.
    else this.#waiting.add(fid * STORES + (store === Store.StorageLends ? EVERY_STORE : store));
  }
}

/** The rows of a part that go to the spool, as few ranges as possible. */
class SpooledRanges {
  readonly #part: SpoolCandidates;
  readonly #ranges: PackedMessages[] = [];
  #from = 0;
  #to = 0;
  #count = 0;

  constructor(part: SpoolCandidates) {
    this.#part = part;
  }

  add(record: number): void {
    const start = rowsStart(this.#part, record);
    if (start !== this.#to) {
      this.#end();
      this.#from = start;
    }
    this.#to = rowsStart(this.#part, record + 1);
    this.#count++;
  }

  finish(): PackedMessages[] {
    this.#end();
    return this.#ranges;
  }

  #end(): void {
    if (this.#count > 0)
      this.#ranges.push({ count: this.#count, bytes: this.#part.rows.subarray(this.#from, this.#to) });
    this.#count = 0;
  }
}

function decodeValid(record: EncodedRecord): IngestRecord {
  const decoded = decodeRecord(record);
  if (!decoded.ok) throw new Error(`a valid record cannot be decoded: ${decoded.error.reason}`);
  return decoded.value;
}
