import { hash as digest } from "node:crypto";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import { MessageType, UserNameProof, UserNameType } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";

/**
 * A key of the state's trie: the virtual shard and the fid of an account, a kind, and the part that identifies the record.
 * The values of the trie are not used, because its root binds the set of keys.
 */
export type TrieKey = Uint8Array;

/** Virtual shard and fid. */
export const ACCOUNT_BYTES = 5;
const HASH_BYTES = 20;
const NAME_BYTES = 20;
const TRANSACTION_HASH_BYTES = 32;
const LOG_INDEX_BYTES = 4;
/** Offset in a key of the part that identifies the record, after the account and the kind. */
export const REST_START = ACCOUNT_BYTES + 1;
/** Virtual shard, fid, kind, hash. */
export const MESSAGE_KEY_BYTES = ACCOUNT_BYTES + 1 + HASH_BYTES;
/** The kinds below this are the types of on-chain events and fnames. The kinds of messages are multiples of it. */
export const MESSAGE_KIND_UNIT = 8;
export const FNAME_KIND = 7;
export const LEND_KIND = MessageType.MESSAGE_TYPE_LEND_STORAGE * MESSAGE_KIND_UNIT;
export const MAX_ON_CHAIN_TYPE = 6;
const MAX_MESSAGE_TYPE = 31;
/** Longer keys do not belong to records that this version knows. */
export const MAX_KEY_BYTES = 64;

/** Returns the virtual shard of an fid, from 0 to 255. */
export function virtualShardOf(fid: number): number {
  return digest("sha256", fidBytes(fid), "buffer").readUInt32BE(0) % 256;
}

/** Returns the first bytes of all keys of an account. */
export function accountPrefix(fid: number): Uint8Array {
  return Buffer.concat([Uint8Array.of(virtualShardOf(fid)), fidBytes(fid)]);
}

/** Encodes an fid in 4 bytes. The network itself truncates it to 32 bits. */
function fidBytes(fid: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(fid % 2 ** 32);
  return bytes;
}

/** Returns the key of a message under an account: its author, or the borrower of a lend. */
export function messageKey(fid: number, type: number, hash: Uint8Array): TrieKey {
  return keyOf(fid, messageKind(type), hash);
}

/**
 * Returns the key of an encoded fname proof; undefined for a proof that is in no trie (a released name, a name that does not
 * fit into a key, another type), and for other bytes.
 */
export function fnameKey(bytes: Uint8Array): TrieKey | undefined {
  const proof = decoded(UserNameProof, bytes);
  if (proof?.type !== UserNameType.USERNAME_TYPE_FNAME || proof.fid === 0) return undefined;
  return fnameKeyOf(proof.fid, proof.name);
}

/** Returns the key of an fname of an fid; undefined for a name that does not fit into a key. */
export function fnameKeyOf(fid: number, name: Uint8Array): TrieKey | undefined {
  const rest = fnameRest(name);
  return rest && keyOf(fid, FNAME_KIND, rest);
}

/** Returns the part after the kind in the key of an fname; undefined for a name that does not fit. */
export function fnameRest(name: Uint8Array): Uint8Array | undefined {
  if (name.length > NAME_BYTES) return undefined;
  const padded = new Uint8Array(NAME_BYTES);
  padded.set(name);
  return padded;
}

/** Returns the key of an encoded on-chain event; undefined for a type that has none, and for other bytes. */
export function onChainKey(bytes: Uint8Array): TrieKey | undefined {
  const event = decoded(OnChainEvent, bytes);
  const rest = event && placeOf(event);
  return rest && keyOf(event.fid, event.type, rest);
}

/** Returns the part after the kind in the key of an encoded on-chain event; undefined as for its key. */
export function onChainRest(bytes: Uint8Array): Uint8Array | undefined {
  const event = decoded(OnChainEvent, bytes);
  return event && placeOf(event);
}

function placeOf({ type, transactionHash, logIndex }: OnChainEvent): Uint8Array | undefined {
  if (type < 1 || type > MAX_ON_CHAIN_TYPE) return undefined;
  if (transactionHash.length !== TRANSACTION_HASH_BYTES) return undefined;
  const place = Buffer.alloc(TRANSACTION_HASH_BYTES + LOG_INDEX_BYTES);
  place.set(transactionHash);
  place.writeUInt32BE(logIndex, TRANSACTION_HASH_BYTES);
  return place;
}

function decoded<T>({ decode }: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function keyOf(fid: number, kind: number, rest: Uint8Array): TrieKey {
  return Buffer.concat([accountPrefix(fid), Uint8Array.of(kind), rest]);
}

/** The parts of a message that determine its keys. */
export interface KeyedMessage {
  readonly fid: number;
  readonly type: number;
  readonly hash: Uint8Array;
  /** The borrowing fid of a lend. */
  readonly toFid?: number | undefined;
}

/**
 * Returns the keys of a message. A lend has one under each of its two accounts; a message without a type or hash has none.
 */
export function keysOfMessage({ fid, type, hash, toFid }: KeyedMessage): TrieKey[] {
  if (type < 1 || type > MAX_MESSAGE_TYPE || hash.length !== HASH_BYTES) return [];
  const key = messageKey(fid, type, hash);
  if (type !== MessageType.MESSAGE_TYPE_LEND_STORAGE || toFid === undefined) return [key];
  return [key, messageKey(toFid, type, hash)];
}

export function keysOfSigned({ data: { fid, type, body }, hash }: SignedMessage): TrieKey[] {
  const toFid = body?.$case === "lendStorageBody" ? body.value.toFid : undefined;
  return keysOfMessage({ fid, type, hash, toFid });
}

/** Returns the kind of the keys of a type of message. */
export function messageKind(type: MessageType): number {
  return type * MESSAGE_KIND_UNIT;
}

export function kindOfKey(key: TrieKey): number {
  return key[ACCOUNT_BYTES] ?? 0;
}

/** Returns how many bytes follow a kind in its keys; undefined for a kind that this version does not know. */
export function restBytesOf(kind: number): number | undefined {
  if (kind >= 1 && kind <= MAX_ON_CHAIN_TYPE) return TRANSACTION_HASH_BYTES + LOG_INDEX_BYTES;
  if (kind === FNAME_KIND) return NAME_BYTES;
  return kind % MESSAGE_KIND_UNIT === 0 ? HASH_BYTES : undefined;
}

export function fidOfKey(key: TrieKey): number {
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(1);
}
