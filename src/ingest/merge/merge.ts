import type { IndexDatabase } from "../../db/index/database.ts";
import { nameOf } from "../../db/index/project/profile.ts";
import type { StoredMessage } from "../../db/index/project/stored-message.ts";
import { statement } from "../../db/index/statement.ts";
import {
  compactSlot,
  Kind,
  type MessageSlot,
  type Rank,
  resolveConflict,
  Store,
  slotOf,
} from "../../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { DUPLICATE, type Rejection, rejection } from "../../protocol/rejection.ts";
import { requiredVerifiedAddress } from "../../protocol/validate/user-data.ts";
import {
  type LinkBody,
  type LinkCompactStateBody,
  UserDataType,
  type UserNameProof,
} from "../../protocol/wire/generated/message.ts";
import type { OperationEvents } from "../hub-log/operation-events.ts";
import type { KeyChanges } from "../trie/key-changes.ts";
import type { ChangeTracker } from "./change-tracker.ts";
import type { SignerCache } from "./keys/signer-cache.ts";
import type { MessageStore } from "./message-store.ts";
import type { StorageLimitCache } from "./storage-limits.ts";

/** The context of merging within one write transaction. */
export interface MergeContext {
  readonly db: IndexDatabase;
  readonly store: MessageStore;
  readonly limits: StorageLimitCache;
  readonly changes: ChangeTracker;
  readonly hubEvents: OperationEvents;
  readonly signers: SignerCache;
  readonly keys: KeyChanges;
  readonly nowSecs: number;
}

const proofInMessage = statement<{ fid: number; timestamp: number; hash: Uint8Array }, [name: string]>(
  "merge.username-proof-in-message",
  `SELECT fid, message_timestamp AS timestamp, message_hash AS hash
   FROM username_proofs WHERE name = ? AND message_hash IS NOT NULL`,
);

const CONFLICT = rejection("bad_request.conflict", "message conflicts with a more recent one");
const PRUNABLE = rejection("bad_request.prunable", "message would be pruned at once");
const SECOND_IS_FULL = rejection(
  "bad_request.prunable",
  "the node stores at most 65,536 casts of one second",
);

/**
 * Merges an admitted message: resolves its conflicts, updates the read model, revokes what depended on the messages that it
 * replaced, and prunes its store. A message that loses changes nothing. A message that the limit removes at once is refused
 * as prunable; other messages removed by the same pruning stay removed, as on the reference node.
 */
export function mergeMessage(context: MergeContext, message: SignedMessage): Rejection | undefined {
  const messageSlot = slotOf(message);
  const refusal = resolveConflicts(context, message, messageSlot);
  if (refusal) return refusal;
  if (!context.store.hasRoomFor(message)) return SECOND_IS_FULL;
  context.store.put(message, messageSlot);
  context.hubEvents.merged(message);
  dropEmptyLend(context, message, messageSlot);
  return prune(context, message, messageSlot.store);
}

/** Removes the messages that `message` replaces, or returns why it is refused. */
function resolveConflicts(
  context: MergeContext,
  message: SignedMessage,
  messageSlot: MessageSlot,
): Rejection | undefined {
  const { fid } = message.data;
  const incoming: Rank = { kind: messageSlot.kind, timestamp: message.data.timestamp, hash: message.hash };
  const current = context.store.get(fid, messageSlot.store, messageSlot.slot);
  if (current) {
    const outcome = resolveConflict(messageSlot.store, current, incoming);
    if (outcome === "duplicate") return DUPLICATE;
    if (outcome === "conflict") return CONFLICT;
  }
  const body = message.data.body;
  if (body?.$case === "linkBody") {
    const refusal = refusedByCompactState(context, fid, body.value, incoming);
    if (refusal) return refusal;
  }
  if (body?.$case === "usernameProofBody" && !current)
    return resolveNameConflict(context, body.value, incoming);
  if (current) {
    context.store.remove(current, "displaced");
    revokeDependents(context, current);
  }
  if (body?.$case === "linkCompactStateBody") applyCompactState(context, fid, body.value, incoming);
  return undefined;
}

/** A link that is older than the compact state of its type is accepted only if that state lists it. */
function refusedByCompactState(
  context: MergeContext,
  fid: number,
  link: LinkBody,
  incoming: Rank,
): Rejection | undefined {
  const compact = context.store.get(fid, Store.Links, compactSlot(link.type));
  if (!compact || incoming.timestamp >= compact.timestamp) return undefined;
  if (incoming.kind === Kind.Remove) return PRUNABLE;
  const { body } = compact.message.data;
  const listed =
    body?.$case === "linkCompactStateBody" && body.value.targetFids.includes(link.target?.value ?? 0);
  return listed ? undefined : CONFLICT;
}

/**
 * Removes every remove message up to the compact state's time, and every add up to it whose target is not listed.
 *
 * @param spared hashes of messages that stay. A link that a compact state leaves in place can be older than the state and
 * unlisted, so a stored compact state is never applied again to links that were not there when it was merged.
 */
export function applyCompactState(
  context: MergeContext,
  fid: number,
  compact: LinkCompactStateBody,
  rank: Pick<Rank, "timestamp">,
  spared: readonly Uint8Array[] = [],
): void {
  const listed = new Set(compact.targetFids);
  const kept = new Set(spared.map((hash) => hash.toHex()));
  for (const stored of context.store.linksOfType(fid, compact.type, rank.timestamp)) {
    if (stored.row.table === "links" && listed.has(stored.row.targetFid)) continue;
    // Computing the hash of a stored link requires rebuilding it.
    if (kept.size > 0 && kept.has(stored.hash.toHex())) continue;
    context.store.remove(stored, "compacted");
  }
}

/**
 * Resolves conflicts over a name, which has one live proof in the whole network. Time and hash decide between proofs of
 * different fids.
 */
function resolveNameConflict(
  context: MergeContext,
  proof: UserNameProof,
  incoming: Rank,
): Rejection | undefined {
  const current = context.db.get(proofInMessage, nameOf(proof));
  if (!current) return undefined;
  if (resolveConflict(Store.UsernameProofs, { ...current, kind: Kind.Add }, incoming) !== "replace")
    return CONFLICT;
  const stored = context.store.get(current.fid, Store.UsernameProofs, proof.name);
  if (stored) context.store.remove(stored, "displaced");
  return undefined;
}

const PRIMARY_ADDRESS_TYPES = [
  UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_ETHEREUM,
  UserDataType.USER_DATA_TYPE_PRIMARY_ADDRESS_SOLANA,
];

/** Revokes a primary address together with its verification, even if a newer verification of the address replaces it. */
function revokeDependents(context: MergeContext, { fid, row, kind }: StoredMessage): void {
  if (row.table !== "messages" || row.store !== Store.Verifications || kind !== Kind.Add) return;
  for (const type of PRIMARY_ADDRESS_TYPES) {
    const current = context.store.get(fid, Store.UserData, Uint8Array.of(type));
    if (!current) continue;
    const required = requiredVerifiedAddress(current.message.data);
    // The slot of a verification is its address.
    if (required && Buffer.compare(required.address, row.slot) === 0)
      context.store.remove(current, "revoked");
  }
}

/** Revokes the USERNAME of an fid when an fname moves away from it, whichever name it shows. */
export function revokeUsername(context: MergeContext, fid: number): void {
  const current = context.store.get(fid, Store.UserData, Uint8Array.of(UserDataType.USER_DATA_TYPE_USERNAME));
  if (current) context.store.remove(current, "revoked");
}

/** Removes a lend of 0 units, which only replaces the previous lend. */
function dropEmptyLend(context: MergeContext, message: SignedMessage, messageSlot: MessageSlot): void {
  const body = message.data.body;
  if (body?.$case !== "lendStorageBody" || body.value.numUnits > 0) return;
  const stored = context.store.get(message.data.fid, messageSlot.store, messageSlot.slot);
  if (stored) context.store.remove(stored, "pruned");
}

/** Removes the oldest messages of a store above its limit. Returns the refusal of `merged` if it is one of them. */
function prune(context: MergeContext, merged: SignedMessage, store: Store): Rejection | undefined {
  const { fid } = merged.data;
  const excess = context.store.count(fid, store) - context.limits.limit(fid, store, context.nowSecs);
  if (excess <= 0) return undefined;
  let refusal: Rejection | undefined;
  for (const stored of context.store.oldest(fid, store, excess)) {
    if (stored.is(merged)) refusal = PRUNABLE;
    context.store.remove(stored, "pruned");
  }
  return refusal;
}
