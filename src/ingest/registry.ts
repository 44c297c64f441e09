import { foldOnChainEvents } from "../index/project/on-chain.ts";
import { addUsernameProof, dropUsernameProof, nameOf } from "../index/project/profile.ts";
import { statement } from "../index/statement.ts";
import type { TotalsDelta } from "../index/totals.ts";
import { Rejection } from "../protocol/rejection.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import { type MergeContext, revokeUsername } from "./merge.ts";

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
const fidKnown = statement<{ one: number }, [fid: number]>(
  "registry.fid-known",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);
const heldProof = statement<
  { type: number; fid: number; owner: Uint8Array; signature: Uint8Array; timestamp: number },
  [name: string]
>("registry.held-proof", "SELECT type, fid, owner, signature, timestamp FROM username_proofs WHERE name = ?");

/** Appends an on-chain event and folds what follows from it. One place on the chain holds one event. */
export function mergeOnChainEvent(
  context: MergeContext,
  totals: TotalsDelta,
  event: OnChainEvent,
): Rejection | undefined {
  const { type, fid, blockNumber, logIndex } = event;
  const bytes = OnChainEvent.encode(event).finish();
  const held = context.db.get(eventAt, type, fid, blockNumber, logIndex);
  if (held) {
    return Buffer.compare(held.bytes, bytes) === 0
      ? new Rejection("bad_request.duplicate", "on-chain event is already merged")
      : new Rejection("bad_request.conflict", "another on-chain event stands at this block and log index");
  }
  const isNewFid =
    type === OnChainEventType.EVENT_TYPE_ID_REGISTER && context.db.get(fidKnown, fid) === undefined;
  context.db.run(insertEvent, type, fid, blockNumber, logIndex, event.blockTimestamp, bytes);
  foldOnChainEvents(context.db, event);
  if (type === OnChainEventType.EVENT_TYPE_STORAGE_RENT) context.limits.forget(fid);
  totals.add("on_chain_events", 1);
  if (isNewFid) totals.add("fids", 1);
  return undefined;
}

/**
 * Merges an fname proof: the later transfer of a name holds it, of equally late ones the one with the greater
 * bytes. Fid 0 releases the name. When the name leaves an fid, that fid's USERNAME is revoked.
 */
export function mergeFnameProof(context: MergeContext, proof: UserNameProof): Rejection | undefined {
  const held = context.db.get(heldProof, nameOf(proof));
  if (held) {
    const heldBytes = UserNameProof.encode({ ...held, name: proof.name }).finish();
    const order =
      proof.timestamp - held.timestamp || Buffer.compare(UserNameProof.encode(proof).finish(), heldBytes);
    if (order === 0) return new Rejection("bad_request.duplicate", "username proof is already merged");
    if (order < 0) return new Rejection("bad_request.conflict", "username proof is older than the live one");
    dropUsernameProof(context.db, proof);
    if (held.fid !== 0 && held.fid !== proof.fid) revokeUsername(context, held.fid);
  }
  addUsernameProof(context.db, proof, undefined);
  return undefined;
}
