import type { TotalsDelta } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { foldOnChainEvents } from "../../db/index/project/on-chain.ts";
import { addUsernameProof, dropUsernameProof, nameOf } from "../../db/index/project/profile.ts";
import { statement } from "../../db/index/statement.ts";
import { type Rejection, rejection } from "../../protocol/rejection.ts";
import { UserNameProof } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { onChainKey } from "../../trust/trie-key.ts";
import { applyRegistryEvent } from "./channel-changes.ts";
import { type MergeContext, revokeUsername } from "./merge.ts";

/** Identifies an on-chain event by its position on the chain, its type and its fid. */
export type OnChainEventRef = Pick<OnChainEvent, "type" | "fid" | "blockNumber" | "logIndex">;

interface Registration {
  custody: Uint8Array | null;
  registeredAt: number | null;
}

const eventAt = statement<
  { bytes: Uint8Array },
  [type: number, fid: number, blockNumber: number, logIndex: number]
>(
  "registry.event-at",
  "SELECT bytes FROM on_chain_events WHERE type = ? AND fid = ? AND block_number = ? AND log_index = ?",
);
const insertEvent = statement<
  unknown,
  [
    type: number,
    fid: number,
    blockNumber: number,
    logIndex: number,
    blockTimestamp: number,
    bytes: Uint8Array,
  ]
>(
  "registry.insert-event",
  `INSERT INTO on_chain_events (type, fid, block_number, log_index, block_timestamp, bytes)
   VALUES (?, ?, ?, ?, ?, ?)`,
);
const putEvent = statement<
  unknown,
  [
    type: number,
    fid: number,
    blockNumber: number,
    logIndex: number,
    blockTimestamp: number,
    bytes: Uint8Array,
  ]
>(
  "registry.put-event",
  `INSERT OR REPLACE INTO on_chain_events (type, fid, block_number, log_index, block_timestamp, bytes)
   VALUES (?, ?, ?, ?, ?, ?)`,
);
const deleteEvent = statement<unknown, [type: number, fid: number, blockNumber: number, logIndex: number]>(
  "registry.delete-event",
  "DELETE FROM on_chain_events WHERE type = ? AND fid = ? AND block_number = ? AND log_index = ?",
);
const registration = statement<Registration, [fid: number]>(
  "registry.registration",
  "SELECT custody, registered_at AS registeredAt FROM fids WHERE fid = ?",
);
const proofOfName = statement<
  { type: number; fid: number; owner: Uint8Array; signature: Uint8Array; timestamp: number },
  [name: string]
>(
  "registry.proof-of-name",
  "SELECT type, fid, owner, signature, timestamp FROM username_proofs WHERE name = ?",
);

/** Adds an on-chain event and derives the state of its fid again. A position on the chain has one event. */
export function mergeOnChainEvent(
  context: MergeContext,
  totals: TotalsDelta,
  event: OnChainEvent,
): Rejection | undefined {
  const { type, fid, blockNumber, logIndex } = event;
  const bytes = OnChainEvent.encode(event).finish();
  const current = context.db.get(eventAt, type, fid, blockNumber, logIndex);
  if (current) {
    context.keys.derived(onChainKey(current.bytes), true, false);
    return Buffer.compare(current.bytes, bytes) === 0
      ? rejection("bad_request.duplicate", "on-chain event is already merged")
      : rejection("bad_request.conflict", "another on-chain event stands at this block and log index");
  }
  const isRegistration = type === OnChainEventType.EVENT_TYPE_ID_REGISTER;
  const registered = isRegistration ? context.db.get(registration, fid) : undefined;
  context.db.run(insertEvent, type, fid, blockNumber, logIndex, event.blockTimestamp, bytes);
  context.keys.derived(onChainKey(bytes), true, true);
  context.signers.clear();
  foldOnChainEvents(context.db, event);
  if (type === OnChainEventType.EVENT_TYPE_STORAGE_RENT) context.limits.invalidate(fid);
  totals.add("on_chain_events", fid, 1);
  if (isRegistration) {
    if (!registered) totals.add("fids", fid, 1);
    trackRegistration(context, fid, registered);
  }
  if (type === OnChainEventType.EVENT_TYPE_TIER_PURCHASE) context.changes.trackUserUpdated(fid);
  if (type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER) applyRegistryEvent(context, event);
  context.hubEvents.happenedOnChain(event);
  return undefined;
}

/** Stores an on-chain event without deriving anything from it. */
export function storeOnChainEvent(db: IndexDatabase, event: OnChainEvent): void {
  const { type, fid, blockNumber, logIndex, blockTimestamp } = event;
  db.run(putEvent, type, fid, blockNumber, logIndex, blockTimestamp, OnChainEvent.encode(event).finish());
}

/** Removes the event `ref` and derives the state of its fid from the remaining events. */
export function removeOnChainEvent(context: MergeContext, totals: TotalsDelta, ref: OnChainEventRef): void {
  const { type, fid, blockNumber, logIndex } = ref;
  const current = context.db.get(eventAt, type, fid, blockNumber, logIndex);
  if (!current) return;
  context.db.run(deleteEvent, type, fid, blockNumber, logIndex);
  context.keys.derived(onChainKey(current.bytes), false, true);
  totals.add("on_chain_events", fid, -1);
  const wasKnown = context.db.get(registration, fid) !== undefined;
  context.signers.clear();
  foldOnChainEvents(context.db, OnChainEvent.decode(current.bytes));
  if (wasKnown && context.db.get(registration, fid) === undefined) totals.add("fids", fid, -1);
  if (type === OnChainEventType.EVENT_TYPE_STORAGE_RENT) context.limits.invalidate(fid);
}

/**
 * Tracks a registration. An event that arrives late may be older than the one that decides the fid's custody. It then
 * changes nothing.
 */
function trackRegistration(context: MergeContext, fid: number, before: Registration | undefined): void {
  const after = context.db.get(registration, fid);
  if (before?.registeredAt == null && after?.registeredAt != null) context.changes.trackUserCreated(fid);
  else if (after?.custody && Buffer.compare(before?.custody ?? NO_BYTES, after.custody) !== 0)
    context.changes.trackUserUpdated(fid);
}

const NO_BYTES = new Uint8Array();

/**
 * Merges an fname proof. The latest transfer of a name wins; among equally late ones, the one with the greater bytes. Fid 0
 * releases the name. If the name moves away from an fid, that fid's USERNAME is revoked.
 */
export function mergeFnameProof(context: MergeContext, proof: UserNameProof): Rejection | undefined {
  const current = context.db.get(proofOfName, nameOf(proof));
  if (current) {
    const currentBytes = UserNameProof.encode({ ...current, name: proof.name }).finish();
    const order =
      proof.timestamp - current.timestamp ||
      Buffer.compare(UserNameProof.encode(proof).finish(), currentBytes);
    if (order === 0) return rejection("bad_request.duplicate", "username proof is already merged");
    if (order < 0) return rejection("bad_request.conflict", "username proof is older than the live one");
    dropUsernameProof(context.db, proof);
    if (current.fid !== 0 && current.fid !== proof.fid) {
      revokeUsername(context, current.fid);
      context.changes.trackUserUpdated(current.fid);
    }
  }
  addUsernameProof(context.db, proof, undefined);
  if (proof.fid !== 0 && proof.fid !== current?.fid) context.changes.trackUserUpdated(proof.fid);
  context.hubEvents.transferred(proof, current && { ...current, name: proof.name });
  return undefined;
}
