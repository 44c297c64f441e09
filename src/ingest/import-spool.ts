import type { MessagePacker } from "../db/index/bulk/packed-messages.ts";
import { spooledSlots } from "../db/index/bulk/spooled-slots.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { splitEncoded } from "../db/index/messages/split-encoded.ts";
import type { StoreCounts } from "../db/index/store-counts.ts";
import { Kind, type MessageSlot, Store, slotOf } from "../protocol/merge-rules.ts";
import { encodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import { defer, deferredAfter } from "./deferred-records.ts";
import type { MergeContext } from "./merge.ts";
import { decodeRecord, type EncodedRecord, type IngestRecord } from "./record.ts";
import { SlotFilter } from "./slot-filter.ts";

/** Numbers of stores are smaller than this. */
const STORES = 128;
const EVERY_STORE = 0;
const RECORDS_PER_READ = 1000;

/** What becomes of a record: it is in the spool, it waits for the end of the build, or it is merged at once. */
type SpoolDecision = "spool" | "defer" | "merge";

/**
 * Decides which records of an import go to the spool of the bulk build. The order of records matters only within one
 * store of one fid, but for names, verifications, user data and lends. So a message goes to the spool as long as merging it would do
 * nothing but add it: its slot is free and its store has room. From the first message on of which that is not sure, all messages
 * of that store of the fid wait, and are merged in their order when the index is built. On-chain events are merged at once, so that
 * admission is the same as without a spool; only rents wait behind messages of their fid that wait. Gasless keys depend on too much:
 * from the first key message on every record waits.
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
    for (const { fid, store, slot } of spooledSlots(deps.db)) this.#slots.add(fid, store, slot);
    for (let after = -1; ; ) {
      const page = deferredAfter(deps.db, after, RECORDS_PER_READ);
      for (const { number, record, isAdmitted } of page) {
        after = number;
        this.#last = number;
        const decoded = decodeRecord(record);
        if (!isAdmitted && record.kind === "message") this.#allWait = true;
        if (decoded.ok) this.#wait(decoded.value);
      }
      if (page.length < RECORDS_PER_READ) break;
    }
  }

  /** Whether every further record waits. */
  get allWait(): boolean {
    return this.#allWait;
  }

  /** Decides on a record whose author the registry admits. */
  decide(context: MergeContext, record: IngestRecord, isHistory: boolean): SpoolDecision {
    if (record.kind === "onChainEvent") {
      const { type, fid } = record.event;
      const isRent = type === OnChainEventType.EVENT_TYPE_STORAGE_RENT;
      return this.#allWait || (isRent && this.#fids.has(fid)) ? "defer" : "merge";
    }
    if (record.kind === "usernameProof" || this.#allWait) return "defer";
    const { data } = record.message;
    const { fid } = data;
    const messageSlot = slotOf(record.message);
    const { store, slot, kind } = messageSlot;
    if (!isSpooled(messageSlot) || !isHistory) return "defer";
    if (this.#waiting.has(fid * STORES + store) || this.#waiting.has(fid * STORES + EVERY_STORE))
      return "defer";
    if (kind === Kind.Compact || this.#slots.add(fid, store, slot)) return "defer";
    if (this.#counts.get(fid, store) >= context.limits.limit(fid, store, context.nowSecs)) return "defer";
    return "spool";
  }

  /** Ends the spool before a key message. */
  waitForAll(): void {
    this.#allWait = true;
  }

  defer(record: IngestRecord, encoded: EncodedRecord, offset: number, isAdmitted: boolean): void {
    this.#wait(record);
    defer(this.#db, { number: ++this.#last, offset, record: encoded, isAdmitted });
  }

  pack(packer: MessagePacker, message: SignedMessage): void {
    packer.add(splitEncoded(encodeMessage(message), this.#network));
    this.#counts.add(message.data.fid, slotOf(message).store, 1);
  }

  #wait(record: IngestRecord): void {
    if (record.kind === "onChainEvent") this.#fids.add(record.event.fid);
    if (record.kind !== "message") return;
    const { fid } = record.message.data;
    const { store } = slotOf(record.message);
    this.#fids.add(fid);
    // A lend changes the limits of all stores of its fid.
    this.#waiting.add(fid * STORES + (store === Store.StorageLends ? EVERY_STORE : store));
  }
}

function isSpooled({ store }: MessageSlot): boolean {
  return store === Store.Casts || store === Store.Reactions || store === Store.Links;
}
