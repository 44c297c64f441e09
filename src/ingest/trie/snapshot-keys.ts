import { lendsInSpool } from "../../db/index/bulk/spool-tables.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { correction, setCorrection } from "../../db/index/trie/corrections.ts";
import { fnamesAfter } from "../../db/index/trie/derived-keys.ts";
import { type KeyAdd, putKeyAdd } from "../../db/index/trie/key-adds.ts";
import { setKeysKnown } from "../../db/index/trie/known-keys.ts";
import { type OpaqueAt, putOpaque } from "../../db/index/trie/opaque.ts";
import { isOnTodo } from "../../db/index/upstream-work.ts";
import { type ByteList, unpackBytes } from "../../lib/bytes.ts";
import { messageHash } from "../../protocol/message/message-hash.ts";
import { MessageType } from "../../protocol/wire/generated/message.ts";
import { fidOfKey, fnameKeyOf, messageKey, type TrieKey } from "../../trust/trie-key.ts";

/** What accounts of a snapshot say about the keys of their shard, besides the stored records. */
export interface SnapshotKeys {
  readonly shard: number;
  /**
   * Keys that no row produces, and keys of names and lends. Every shard has the latter, and the rows produce them for all
   * shards or none; which of them they produce is known once all snapshots have been read.
   */
  readonly keys: ByteList;
  readonly keyAdds: readonly KeyAdd[];
  readonly opaque: readonly OpaqueAt[];
}

/** Stores the keys of accounts, in the transaction that appends their records to the spool. */
export function storeSnapshotKeys(db: IndexDatabase, { shard, keys, keyAdds, opaque }: SnapshotKeys): void {
  for (const key of unpackBytes(keys)) setCorrection(db, shard, key, true);
  for (const add of keyAdds) putKeyAdd(db, add);
  for (const child of opaque) putOpaque(db, child);
}

const NAMES_PER_READ = 1000;

/**
 * Ends a fill from snapshots, in the transaction that records that all of them have been read. Keys that rows produce but a
 * shard lacks are corrected; keys that both have need no correction. From block `from` on, the keys of a shard are known.
 */
export function settleSnapshotKeys(
  db: IndexDatabase,
  known: readonly { readonly shard: number; readonly from: number }[],
): void {
  const settle = (key: TrieKey | undefined) => {
    if (!key) return;
    // What snapshots did not provide is read by other calls, and assumed to be in the trie.
    const isRead = !isOnTodo(db, fidOfKey(key));
    for (const { shard } of known) {
      const isPresent = correction(db, shard, key) === true;
      if (isPresent || isRead) setCorrection(db, shard, key, isPresent ? undefined : false);
    }
  };
  for (let page = fnamesAfter(db, "", NAMES_PER_READ); page.length > 0; ) {
    for (const { fid, name } of page) settle(fnameKeyOf(fid, Buffer.from(name)));
    page = fnamesAfter(db, page.at(-1)?.name ?? "", NAMES_PER_READ);
  }
  for (const { data, fid, toFid } of lendsInSpool(db)) {
    const hash = messageHash(data);
    for (const account of [fid, toFid])
      settle(messageKey(account, MessageType.MESSAGE_TYPE_LEND_STORAGE, hash));
  }
  for (const { shard, from } of known) setKeysKnown(db, shard, from);
}
