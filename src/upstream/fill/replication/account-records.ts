import type { PackedMessages } from "../../../db/index/bulk/bulk-state.ts";
import { isOnAllShards } from "../../../db/index/trie/derived-keys.ts";
import type { KeyAdd } from "../../../db/index/trie/key-adds.ts";
import type { Verifier } from "../../../ingest/bulk/verify/verifier.ts";
import type { RelayedOp } from "../../../ingest/relayed-op.ts";
import { packBytes } from "../../../lib/bytes.ts";
import { shardOfFid } from "../../../protocol/network/shard.ts";
import { MessageType, UserNameProof } from "../../../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../protocol/wire/generated/on-chain.ts";
import type { SnapshotEntry } from "../../../protocol/wire/generated/snapshot.ts";
import type { PageRefusal } from "../../../trust/snapshot-page.ts";
import { fidOfKey, kindOfKey, messageKind } from "../../../trust/trie-key.ts";
import type { RelayRules } from "../../blocks/validate-relayed.ts";
import { validatedEvent, validatedProof } from "../../blocks/validate-relayed.ts";
import { PeerError } from "../../calls/peer.ts";
import { EVENT_TYPES } from "../stored.ts";

/** Additions of a snapshot's entries to the index. */
export interface AccountRecords {
  readonly ops: readonly RelayedOp[];
  readonly messages: readonly PackedMessages[];
  /** Keys of the shard's trie that no row produces, or not reliably. */
  readonly keys: Uint8Array[];
  readonly keyAdds: readonly KeyAdd[];
}

/** Thrown if the upstream sent a page that is not one of the network's state. */
export class RefusedPageError extends PeerError {
  override name = "RefusedPageError";
  readonly code: PageRefusal;

  constructor(shard: number, virtualShard: number, code: PageRefusal) {
    super(
      `a page of shard ${shard} and virtual shard ${virtualShard} is not of the network's state (${code})`,
    );
    this.code = code;
  }
}

export interface EntryDeps {
  readonly verifier: Pick<Verifier, "verifySnapshot">;
  readonly rules: RelayRules;
}

const KEY_KINDS: readonly number[] = [
  MessageType.MESSAGE_TYPE_KEY_ADD,
  MessageType.MESSAGE_TYPE_KEY_REMOVE,
].map(messageKind);

/** Reports whether an entry is the message of a gasless key. The key itself is read by another call. */
export function isKeyMessage({ key }: SnapshotEntry): boolean {
  return KEY_KINDS.includes(kindOfKey(key));
}

/**
 * Reports whether a shard decides the messages of an account. For copies of messages on the other shards, only the keys are
 * stored. Names are on all shards, or on any one.
 */
export function isHome({ shards }: Pick<RelayRules, "shards">, shard: number, fid: number): boolean {
  return fid > 0 && shardOfFid(fid, shards) === shard;
}

/**
 * Verifies the records of entries whose keys were checked.
 *
 * @throws RefusedPageError for a message that does not belong to its key, or is not signed.
 */
export async function verifyEntries(
  { verifier, rules }: EntryDeps,
  { shard, virtualShard }: { readonly shard: number; readonly virtualShard: number },
  entries: readonly SnapshotEntry[],
): Promise<AccountRecords> {
  const ops: RelayedOp[] = [];
  const own: Uint8Array[] = [];
  /** Keys that are in the trie but that no row produces reliably. */
  const keys: Uint8Array[] = [];
  const messages: Uint8Array[] = [];
  let [fid, isOfShard] = [-1, false];
  for (const { key, message, onChainEvent, fnameTransfer } of entries) {
    if (fidOfKey(key) !== fid) {
      fid = fidOfKey(key);
      isOfShard = isHome(rules, shard, fid);
    }
    if (fnameTransfer) addProof(rules, ops, fnameTransfer.proof);
    if (!isOfShard || isOnAllShards(kindOfKey(key))) keys.push(key);
    if (!isOfShard) continue;
    if (onChainEvent && !addEvent(rules, ops, onChainEvent)) keys.push(key);
    if (!message) continue;
    own.push(key);
    messages.push(message);
  }
  const keyAdds: KeyAdd[] = [];
  if (messages.length === 0) return { ops, messages: [], keys, keyAdds };
  const parts = await verifier.verifySnapshot({ keys: packBytes(own), messages: packBytes(messages) });
  for (const { broken, refusals, proofs, unstored, keyAdds: added } of parts) {
    if (broken) throw new RefusedPageError(shard, virtualShard, broken);
    keys.push(...unstored);
    keyAdds.push(...added);
    for (const refusal of refusals) rules.onRefused(refusal);
    // The message was valid, and a proof in it needs no further check.
    for (const added of proofs) ops.push({ kind: "proof", added, happenedAt: 0 });
  }
  const packed = parts.flatMap((part) => (part.packed.count > 0 ? [part.packed] : []));
  return { ops, messages: packed, keys, keyAdds };
}

function addProof(rules: RelayRules, ops: RelayedOp[], bytes: Uint8Array): void {
  const proof = validatedProof(rules, bytes);
  if (proof) ops.push({ kind: "proof", added: UserNameProof.encode(proof).finish(), happenedAt: 0 });
}

/**
 * Adds an event. Returns whether it is stored: registrations of channels are read from shard 0, and migrations are not read
 * at all.
 */
function addEvent(rules: RelayRules, ops: RelayedOp[], bytes: Uint8Array): boolean {
  const event = validatedEvent(rules, bytes);
  if (!event || !EVENT_TYPES.includes(event.type)) return false;
  ops.push({ kind: "onChainEvent", event: OnChainEvent.encode(event).finish(), happenedAt: 0 });
  return true;
}
