import { type AccountRoot, AccountTrie, ShardTrie } from "../../src/trust/trie/trie.ts";
import { ACCOUNT_BYTES, fidOfKey, type TrieKey } from "../../src/trust/trie-key.ts";

/** The keys of a shard. The roots of accounts are computed again when their keys have changed. */
export class ShardKeys {
  readonly #keys = new Map<string, Map<string, TrieKey>>();
  readonly #roots = new Map<string, AccountRoot>();
  readonly #trie = new AccountTrie();

  add(key: TrieKey): void {
    this.#changing(key).set(key.toHex(), key);
  }

  delete(key: TrieKey): void {
    this.#changing(key).delete(key.toHex());
  }

  /** Returns the root of the shard, and the roots of its accounts by fid. */
  root(): { readonly root: Uint8Array; readonly accounts: ReadonlyMap<number, AccountRoot> } {
    const accounts = new Map<number, AccountRoot>();
    const shard = new ShardTrie();
    for (const [prefix, keys] of this.#keys) {
      const account = this.#roots.get(prefix) ?? this.#rootOf(prefix, keys);
      if (!account) continue;
      this.#roots.set(prefix, account);
      accounts.set(fidOfKey(account.prefix), account);
      shard.add(account);
    }
    return { root: shard.root(), accounts };
  }

  #changing(key: TrieKey): Map<string, TrieKey> {
    const prefix = key.subarray(0, ACCOUNT_BYTES).toHex();
    this.#roots.delete(prefix);
    return this.#keys.getOrInsertComputed(prefix, () => new Map());
  }

  #rootOf(prefix: string, keys: ReadonlyMap<string, TrieKey>): AccountRoot | undefined {
    this.#trie.clear();
    for (const key of keys.values()) this.#trie.add(key);
    const root = this.#trie.root();
    return root && { prefix: Uint8Array.fromHex(prefix), ...root };
  }
}

/** Returns the root of a shard with these keys, and the roots of its accounts by fid. */
export function shardRootOf(keys: Iterable<TrieKey>): ReturnType<ShardKeys["root"]> {
  const shard = new ShardKeys();
  for (const key of keys) shard.add(key);
  return shard.root();
}
