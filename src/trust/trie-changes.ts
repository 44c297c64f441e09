import { type DecodeMessage, decodeMessage, type SignedMessage } from "../protocol/message/signed-message.ts";
import { shardOfFid } from "../protocol/network/shard.ts";
import type { ChunkTransaction } from "../protocol/wire/generated/certificate.ts";
import { type LinkCompactStateBody, MessageType } from "../protocol/wire/generated/message.ts";
import type { FollowedEvent, FollowedProofs } from "../protocol/wire/generated/upstream.ts";
import {
  fnameKey,
  type KeyedMessage,
  keysOfMessage,
  keysOfSigned,
  messageKey,
  onChainKey,
  type TrieKey,
} from "./trie-key.ts";

const MESSAGE_HASH_BYTES = 20;

/** Changes of a shard's trie. The insertions of an event precede its deletions, so a key in both is not in the trie. */
export interface TrieChange {
  readonly kind: "insert" | "delete";
  readonly key: TrieKey;
}

/** The state before a block, for events that do not say what they delete. */
export interface StateBefore {
  /**
   * Returns the links of an author that a compact state deletes: those of its type, no later than `timestamp` (Farcaster
   * seconds), that are removals, or additions whose target it does not list. Links of the same block are excluded, because
   * the network compacts only what was committed before it.
   */
  compactedLinks(fid: number, compact: LinkCompactStateBody, timestamp: number): Iterable<KeyedMessage>;
  /** Returns the hash of the KEY_ADD of a public key of an fid. */
  keyAddOf(fid: number, publicKey: Uint8Array): Uint8Array | undefined;
}

/**
 * Yields the changes that a hub event of a data shard causes. What cannot be decoded changes nothing, which the root
 * reveals.
 */
export function* changesOfEvent(
  { body }: FollowedEvent,
  before: StateBefore,
  decode: DecodeMessage = decodeMessage,
): Generator<TrieChange> {
  switch (body?.$case) {
    case "merge": {
      const merged = decoded(body.value.message, decode);
      if (merged) yield* inserted(keysOfSigned(merged));
      for (const bytes of body.value.deletedMessages) yield* deletedMessage(bytes, decode);
      const compact = merged?.data.body;
      if (merged && compact?.$case === "linkCompactStateBody") {
        const { fid, timestamp } = merged.data;
        for (const link of before.compactedLinks(fid, compact.value, timestamp))
          yield* deleted(keysOfMessage(link));
      }
      break;
    }
    case "prune":
    case "revoke":
      yield* deletedMessage(body.value.message, decode);
      break;
    case "proofs":
      yield* changesOfProofs(body.value);
      break;
    case "onChainEvent": {
      const key = onChainKey(body.value.event);
      if (key) yield { kind: "insert", key };
    }
  }
}

function* changesOfProofs(proofs: FollowedProofs): Generator<TrieChange> {
  const { proof, deletedProof, proofMessage, deletedProofMessage } = proofs;
  const message = proofMessage && decoded(proofMessage);
  if (message) yield* inserted(keysOfSigned(message));
  else if (proof) yield* inserted(keyOfProof(proof));
  if (deletedProofMessage) yield* deletedMessage(deletedProofMessage);
  else if (deletedProof) yield* deleted(keyOfProof(deletedProof));
}

function keyOfProof(bytes: Uint8Array): TrieKey[] {
  const key = fnameKey(bytes);
  return key ? [key] : [];
}

/**
 * Yields the changes of gasless keys, which have no hub event: a block contains their messages as events of shard 0, and
 * only the home shard of their fid applies them. A KEY_ADD stays until the next KEY_ADD or KEY_REMOVE of its public key; a
 * KEY_REMOVE stays permanently.
 */
export function* changesOfKeys(
  transactions: readonly ChunkTransaction[],
  place: ShardPlace,
  before: Pick<StateBefore, "keyAddOf">,
): Generator<TrieChange> {
  const added = new Map<string, Uint8Array>();
  for (const operation of keyOperations(transactions, place)) {
    const { fid, publicKey, hash, isAdd } = operation;
    const name = `${fid} ${publicKey.toHex()}`;
    const older = added.get(name) ?? before.keyAddOf(fid, publicKey);
    yield* inserted([keyOfOperation(operation)]);
    if (older) yield* deleted([messageKey(fid, MessageType.MESSAGE_TYPE_KEY_ADD, older)]);
    if (isAdd) added.set(name, hash);
  }
}

/** A data shard, and the number of data shards. */
export interface ShardPlace {
  readonly shard: number;
  readonly shards: number;
}

/** A KEY_ADD or KEY_REMOVE in a block of a data shard. */
export interface KeyOperation {
  readonly fid: number;
  readonly publicKey: Uint8Array;
  readonly hash: Uint8Array;
  readonly isAdd: boolean;
}

/** Returns the key of a KEY_ADD or KEY_REMOVE. */
export function keyOfOperation({ fid, hash, isAdd }: Omit<KeyOperation, "publicKey">): TrieKey {
  return messageKey(
    fid,
    isAdd ? MessageType.MESSAGE_TYPE_KEY_ADD : MessageType.MESSAGE_TYPE_KEY_REMOVE,
    hash,
  );
}

/** Yields the operations on gasless keys that the home shard of their fid applies. */
export function* keyOperations(
  transactions: readonly ChunkTransaction[],
  { shard, shards }: ShardPlace,
): Generator<KeyOperation> {
  for (const { data, hash } of keyMessages(transactions)) {
    const { fid, body } = data;
    if (body?.$case !== "keyAddBody" && body?.$case !== "keyRemoveBody") continue;
    if (hash.length !== MESSAGE_HASH_BYTES || shardOfFid(fid, shards) !== shard) continue;
    yield { fid, publicKey: body.value.key, hash, isAdd: body.$case === "keyAddBody" };
  }
}

function* keyMessages(transactions: readonly ChunkTransaction[]): Generator<SignedMessage> {
  for (const { systemMessages } of transactions)
    for (const { blockEvent } of systemMessages) {
      const body = blockEvent?.data?.body;
      const message = body?.$case === "merged" ? decoded(body.value.message) : undefined;
      if (message) yield message;
    }
}

function* inserted(keys: readonly TrieKey[]): Generator<TrieChange> {
  for (const key of keys) yield { kind: "insert", key };
}

function* deleted(keys: readonly TrieKey[]): Generator<TrieChange> {
  for (const key of keys) yield { kind: "delete", key };
}

function* deletedMessage(bytes: Uint8Array, decode = decodeMessage): Generator<TrieChange> {
  const message = decoded(bytes, decode);
  if (message) yield* deleted(keysOfSigned(message));
}

function decoded(bytes: Uint8Array, decode = decodeMessage): SignedMessage | undefined {
  const message = decode(bytes);
  return message.ok ? message.value : undefined;
}
