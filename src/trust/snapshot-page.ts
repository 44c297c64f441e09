import { err, ok, type Result } from "../lib/result.ts";
import { messageHash } from "../protocol/message-hash.ts";
import { decodeMessage } from "../protocol/signed-message.ts";
import { verifyEd25519 } from "../protocol/validate/ed25519.ts";
import type { SnapshotEntry, SnapshotPage } from "../protocol/wire/generated/snapshot.ts";
import { isEqual } from "./certificate.ts";
import { type AccountRoot, AccountTrie } from "./trie.ts";
import { ACCOUNT_BYTES, fidOfKey, fnameKey, keysOfMessage, onChainKey, type TrieKey } from "./trie-key.ts";

/** Why a page is refused. */
export type PageRefusal =
  | "too_many_entries"
  /** Keys are not ascending, or not above those of the page before. */
  | "order"
  | "other_virtual_shard"
  /** The entry has no record, or not one that can have a key. */
  | "no_message"
  /** The record does not have this key. */
  | "key_mismatch"
  | "bad_message"
  /** An account does not have the root or the number of keys that the page says. */
  | "account_root";

const MAX_ENTRIES = 1000;

/**
 * Verifies the pages of one virtual shard of a snapshot, in order. An account is complete when the next one begins, or the pages
 * end. What is complete is true once the roots of all accounts have the root that the validators signed, not before.
 */
export class SnapshotPages {
  readonly #virtualShard: number;
  readonly #trie = new AccountTrie();
  #last: TrieKey | undefined;
  #claimed: { readonly root: Uint8Array; readonly keys: number } | undefined;

  constructor(virtualShard: number) {
    this.#virtualShard = virtualShard;
  }

  /** Returns the accounts that the page completes. */
  accept({ entries, accounts }: SnapshotPage): Result<readonly AccountRoot[], PageRefusal> {
    if (entries.length > MAX_ENTRIES) return err("too_many_entries");
    const claims = new Map(accounts.map((account) => [account.fid, account]));
    const complete: AccountRoot[] = [];
    for (const entry of entries) {
      const refusal = this.#refusalOf(entry);
      if (refusal) return err(refusal);
      if (this.#last && fidOfKey(this.#last) !== fidOfKey(entry.key)) {
        const account = this.#complete();
        if (!account.ok) return account;
        complete.push(...account.value);
      }
      this.#claimed = claims.get(fidOfKey(entry.key));
      this.#trie.add(entry.key);
      this.#last = entry.key;
    }
    return ok(complete);
  }

  /** Returns the last account, after the last page. */
  end(): Result<readonly AccountRoot[], PageRefusal> {
    return this.#complete();
  }

  #refusalOf(entry: SnapshotEntry): PageRefusal | undefined {
    const { key } = entry;
    if (this.#last && Buffer.compare(key, this.#last) <= 0) return "order";
    if (key[0] !== this.#virtualShard) return "other_virtual_shard";
    const keys = keysOf(entry);
    if (typeof keys === "string") return keys;
    return keys.some((one) => isEqual(one, key)) ? undefined : "key_mismatch";
  }

  #complete(): Result<readonly AccountRoot[], PageRefusal> {
    const computed = this.#trie.root();
    if (!computed || !this.#last) return ok([]);
    const { root, keys } = computed;
    const claimed = this.#claimed;
    if (!claimed || claimed.keys !== keys || !isEqual(claimed.root, root)) return err("account_root");
    this.#trie.clear();
    return ok([{ prefix: this.#last.slice(0, ACCOUNT_BYTES), root, keys }]);
  }
}

/** Returns the keys of a record: two of a lend. */
function keysOf({ message, onChainEvent, fnameTransfer }: SnapshotEntry): TrieKey[] | PageRefusal {
  if (message) return keysOfSigned(message);
  const key = onChainEvent ? onChainKey(onChainEvent) : fnameTransfer && fnameKey(fnameTransfer.proof);
  return key ? [key] : "no_message";
}

function keysOfSigned(bytes: Uint8Array): TrieKey[] | PageRefusal {
  const message = decodeMessage(bytes);
  if (!message.ok) return "bad_message";
  const { data, dataBytes, hash, signer, signature } = message.value;
  if (!isEqual(hash, messageHash(dataBytes)) || !verifyEd25519(signer, hash, signature)) return "bad_message";
  const toFid = data.body?.$case === "lendStorageBody" ? data.body.value.toFid : undefined;
  return keysOfMessage({ fid: data.fid, type: data.type, hash, toFid });
}
