import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const keyAddHash = statement<{ hash: Uint8Array }, [fid: number, key: Uint8Array]>(
  "trie-key-adds.get",
  "SELECT hash FROM trie_key_adds WHERE fid = ? AND key = ?",
);
const putKeyAddHash = statement<unknown, [fid: number, key: Uint8Array, hash: Uint8Array]>(
  "trie-key-adds.put",
  "INSERT OR REPLACE INTO trie_key_adds (fid, key, hash) VALUES (?, ?, ?)",
);
const dropKeyAddHash = statement<unknown, [fid: number, key: Uint8Array]>(
  "trie-key-adds.drop",
  "DELETE FROM trie_key_adds WHERE fid = ? AND key = ?",
);

/** The newest KEY_ADD of a public key, which the next operation on that key deletes from the trie. */
export interface KeyAdd {
  readonly fid: number;
  readonly publicKey: Uint8Array;
  /** Hash of the message. */
  readonly hash: Uint8Array;
}

/** Returns the hash of the newest KEY_ADD of a public key of an fid. */
export function keyAddOf(db: IndexDatabase, fid: number, publicKey: Uint8Array): Uint8Array | undefined {
  return db.get(keyAddHash, fid, publicKey)?.hash;
}

export function putKeyAdd(db: IndexDatabase, { fid, publicKey, hash }: KeyAdd): void {
  db.run(putKeyAddHash, fid, publicKey, hash);
}

export function dropKeyAdd(db: IndexDatabase, fid: number, publicKey: Uint8Array): void {
  db.run(dropKeyAddHash, fid, publicKey);
}
