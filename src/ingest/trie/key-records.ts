import type { IndexDatabase } from "../../db/index/database.ts";
import { dropKeyAdd, keyAddOf, putKeyAdd } from "../../db/index/trie/key-adds.ts";
import { MessageType } from "../../protocol/wire/generated/message.ts";
import { type KeyOperation, keyOfOperation } from "../../trust/trie-changes.ts";
import { ACCOUNT_BYTES, messageKey, type TrieKey } from "../../trust/trie-key.ts";
import type { KeyChanges } from "./key-changes.ts";

/**
 * What a block of a data shard says about the shard's trie, as bytes, in the order of application: the keys that its events
 * insert and delete, the operations on gasless keys, which have no event, and the roots that its transactions name for
 * accounts.
 */
export type KeyRecord =
  | { readonly kind: "key"; readonly key: TrieKey; readonly isPresent: boolean }
  | ({ readonly kind: "gasless" } & KeyOperation)
  /** `root` is empty for an account without keys. */
  | { readonly kind: "root"; readonly account: Uint8Array; readonly root: Uint8Array };

const TAGS = { deleted: 0, inserted: 1, keyAdd: 2, keyRemove: 3, root: 4 } as const;
const FID_BYTES = 8;
const HASH_BYTES = 20;

export function encodeKeyRecord(record: KeyRecord): Uint8Array {
  switch (record.kind) {
    case "key":
      return tagged(record.isPresent ? TAGS.inserted : TAGS.deleted, record.key);
    case "root":
      return tagged(TAGS.root, record.account, record.root);
    case "gasless": {
      const fid = Buffer.alloc(FID_BYTES);
      fid.writeBigUInt64BE(BigInt(record.fid));
      return tagged(record.isAdd ? TAGS.keyAdd : TAGS.keyRemove, fid, record.hash, record.publicKey);
    }
  }
}

export function decodeKeyRecord(bytes: Uint8Array): KeyRecord {
  const rest = bytes.slice(1);
  switch (bytes[0]) {
    case TAGS.deleted:
    case TAGS.inserted:
      return { kind: "key", key: rest, isPresent: bytes[0] === TAGS.inserted };
    case TAGS.root:
      return { kind: "root", account: rest.subarray(0, ACCOUNT_BYTES), root: rest.subarray(ACCOUNT_BYTES) };
    case TAGS.keyAdd:
    case TAGS.keyRemove: {
      const fid = Number(Buffer.from(rest.buffer, rest.byteOffset).readBigUInt64BE());
      const hash = rest.subarray(FID_BYTES, FID_BYTES + HASH_BYTES);
      const publicKey = rest.subarray(FID_BYTES + HASH_BYTES);
      return { kind: "gasless", fid, hash, publicKey, isAdd: bytes[0] === TAGS.keyAdd };
    }
    default:
      throw new Error("a record of a block's keys is of no known kind");
  }
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(tag), ...parts]);
}

/**
 * Applies a KEY_ADD or KEY_REMOVE to the trie of its home shard, in a transaction. It deletes the previous KEY_ADD of the
 * same public key. A KEY_REMOVE stays in the trie permanently.
 */
export function applyKeyOperation(
  db: IndexDatabase,
  changes: KeyChanges,
  shard: number,
  operation: KeyOperation,
): void {
  const { fid, publicKey, hash, isAdd } = operation;
  const older = keyAddOf(db, fid, publicKey);
  changes.network(shard, keyOfOperation(operation), true);
  if (older && Buffer.compare(older, hash) !== 0)
    changes.network(shard, messageKey(fid, MessageType.MESSAGE_TYPE_KEY_ADD, older), false);
  if (isAdd) putKeyAdd(db, operation);
  else dropKeyAdd(db, fid, publicKey);
}
