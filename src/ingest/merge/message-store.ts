import type { StoreCounts } from "../../db/index/counts/store-counts.ts";
import type { TotalsDelta } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { storedLinkType } from "../../db/index/messages/columns.ts";
import { splitMessage } from "../../db/index/messages/split.ts";
import { hasFreeCastId, oldestCastsOf, type ThreadRoot, threadRootOf } from "../../db/index/project/casts.ts";
import { linksOfType, oldestLinksOf } from "../../db/index/project/links.ts";
import { oldestOtherMessages, otherMessagesWithPrefix } from "../../db/index/project/other-messages.ts";
import { project, retract } from "../../db/index/project/project.ts";
import { oldestReactionsOf } from "../../db/index/project/reactions.ts";
import { type MessageRow, StoredMessage } from "../../db/index/project/stored-message.ts";
import { allUserDataOf } from "../../db/index/project/user-data.ts";
import { linkSlotPrefix, type MessageSlot, Store } from "../../protocol/message/merge-rules.ts";
import { messageHash } from "../../protocol/message/message-hash.ts";
import { decodeMessage, encodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { OperationEvents, RemovalReason } from "../hub-log/operation-events.ts";
import type { KeyChanges } from "../trie/key-changes.ts";
import type { ChangeTracker } from "./change-tracker.ts";
import { findStored } from "./find-stored.ts";
import { LostRows } from "./lost-rows.ts";
import type { StorageLimitCache } from "./storage-limits.ts";

export interface MessageStoreDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly totals: TotalsDelta;
  readonly counts: StoreCounts;
  readonly limits: StorageLimitCache;
  readonly changes: ChangeTracker;
  readonly hubEvents: OperationEvents;
  readonly keys: KeyChanges;
}

/** The live messages, with the read model and counts derived from them. Use it inside a write transaction. */
export class MessageStore {
  readonly #deps: MessageStoreDeps;
  /** Set while an account is made equal to the network's. */
  #lost: LostRows | undefined;

  constructor(deps: MessageStoreDeps) {
    this.#deps = deps;
  }

  /**
   * Marks the start of operations that make an account equal to the network's. Messages of the account may be counted
   * although the disk lost their rows.
   */
  startHealing(fid: number): void {
    const { db, counts } = this.#deps;
    const count = (store: Store, table: MessageRow["table"], by: 1 | -1) =>
      this.#count(fid, store, table, by);
    this.#lost = new LostRows({ db, fid, counts, count });
  }

  /** Corrects the counts for rows that the disk lost and no node has. */
  endHealing(): void {
    this.#lost?.settle();
    this.clear();
  }

  /** Discards the state of a transaction. */
  clear(): void {
    this.#lost = undefined;
  }

  /** Returns the message in a slot of an fid. */
  get(fid: number, store: Store, slot: Uint8Array): StoredMessage | undefined {
    const { db, network } = this.#deps;
    return findStored(db, network, { fid, store, slot });
  }

  /**
   * Returns the live links of a type and their remove messages, up to and including `maxTimestamp` (Farcaster
   * seconds).
   */
  linksOfType(fid: number, type: string, maxTimestamp: number): StoredMessage[] {
    const { db } = this.#deps;
    const removes = otherMessagesWithPrefix(db, fid, Store.Links, linkSlotPrefix(type), maxTimestamp);
    const links = linksOfType(db, fid, storedLinkType(type), toUnixSecs(maxTimestamp));
    return [
      ...removes.map((row) => this.#stored({ table: "messages", ...row })),
      ...links.map((row) => this.#stored({ table: "links", ...row })),
    ];
  }

  /** Returns the `count` messages that a full store loses first. Compact states are never among them. */
  oldest(fid: number, store: Store, count: number): StoredMessage[] {
    const { db } = this.#deps;
    const others = oldestOtherMessages(db, fid, store, count);
    return [
      ...this.#oldestOfTable(fid, store, count),
      ...others.map((row): MessageRow => ({ table: "messages", ...row })),
    ]
      .map((row) => this.#stored(row))
      .sort((a, b) => a.timestamp - b.timestamp || Buffer.compare(a.hash, b.hash))
      .slice(0, count);
  }

  /** Returns the number of live messages, remove messages and compact states included. */
  count(fid: number, store: Store): number {
    return this.#deps.counts.get(fid, store);
  }

  /** Returns whether the index can store a message. Cast ids limit the casts of one second to 65,536. */
  hasRoomFor({ data, hash }: SignedMessage): boolean {
    if (data.body?.$case !== "castAddBody") return true;
    return hasFreeCastId(this.#deps.db, data.fid, toUnixSecs(data.timestamp), hash);
  }

  /**
   * Stores a message. The caller must have called `hasRoomFor`.
   *
   * @throws Error if the hash is not that of the data, because the hash of most messages is not stored.
   */
  put(message: SignedMessage, { store }: MessageSlot): void {
    const { db, network, changes, keys } = this.#deps;
    if (Buffer.compare(messageHash(message.dataBytes), message.hash) !== 0)
      throw new Error("the hash of a message is not that of its data");
    const split = splitMessage(message, network);
    const { fid } = message.data;
    this.#lost?.willPut(split, message.data, store);
    this.#count(fid, store, split.columns.table, 1);
    project(db, split, message.data);
    this.#invalidateLimits(message);
    keys.message(message, true, true);
    if (changes.isTracking) changes.trackAdded(message, encodeMessage(message));
  }

  /** Removes a live message and everything derived from it. Read it from `stored` before this call. */
  remove(stored: StoredMessage, reason: RemovalReason): void {
    const { db, changes, hubEvents, keys } = this.#deps;
    const { fid, store, row } = stored;
    if (changes.isTracking) {
      const root: ThreadRoot | undefined = row.table === "casts" ? threadRootOf(db, row) : undefined;
      changes.trackRemoved(stored.message, encodeMessage(stored.message), root);
    }
    if (hubEvents.isOn) hubEvents.removed(reason, stored.message);
    if (keys.isOn) {
      keys.message(stored.message, false, true);
      if (reason === "compacted") keys.compacted(stored.message);
    }
    this.#count(fid, store, row.table, -1);
    if (store === Store.StorageLends) this.#invalidateLimits(stored.message);
    retract(db, stored);
  }

  #stored(row: MessageRow): StoredMessage {
    return new StoredMessage(this.#deps.db, this.#deps.network, row);
  }

  #oldestOfTable(fid: number, store: Store, count: number): MessageRow[] {
    const { db } = this.#deps;
    switch (store) {
      case Store.Casts:
        return oldestCastsOf(db, fid, count).map((row) => ({ table: "casts", ...row }));
      case Store.Reactions:
        return oldestReactionsOf(db, fid, count).map((row) => ({ table: "reactions", ...row }));
      case Store.Links:
        return oldestLinksOf(db, fid, count).map((row) => ({ table: "links", ...row }));
      case Store.UserData:
        return allUserDataOf(db, fid).map((row) => ({ table: "user_data", ...row }));
      default:
        return [];
    }
  }

  #count(fid: number, store: Store, table: MessageRow["table"], by: 1 | -1): void {
    const { totals, counts } = this.#deps;
    counts.add(fid, store, by);
    totals.add("messages", fid, by);
    if (table === "casts" || table === "reactions" || table === "links") totals.add(table, fid, by);
  }

  /** A lend changes the limits of both fids. */
  #invalidateLimits({ data }: SignedMessage): void {
    if (data.body?.$case !== "lendStorageBody") return;
    this.#deps.limits.invalidate(data.fid);
    this.#deps.limits.invalidate(data.body.value.toFid);
  }
}

/**
 * Decodes the bytes of a message that was validated.
 *
 * @throws Error if they are anything else.
 */
export function decodeStored(bytes: Uint8Array): SignedMessage {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(`message is unreadable: ${message.error.reason}`);
  return message.value;
}
