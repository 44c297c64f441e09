import type { IndexDatabase } from "../../db/index/database.ts";
import { accountRootsBetween, storedAccountsAfter } from "../../db/index/trie/account-roots.ts";
import { type Levels, rootAbove, type UpperNode } from "../../trust/trie/trie.ts";
import { ACCOUNT_BYTES } from "../../trust/trie-key.ts";

/** A virtual shard is two nibbles, a group the next five: on mainnet about 16 accounts of 4,096 fids. */
const VIRTUAL_SHARDS: Levels = { top: 0, bottom: 2 };
const GROUPS: Levels = { top: 2, bottom: 7 };
const ACCOUNTS: Levels = { top: 7, bottom: 10 };
const ACCOUNTS_PER_READ = 1000;

/**
 * The levels above the accounts of a shard's trie, over the stored roots of accounts. A changed account costs reading its
 * group, and hashing the group and its virtual shard. Memory: 100 bytes per group; about 90,000 groups on mainnet.
 */
export class UpperLevels {
  readonly #db: IndexDatabase;
  readonly #shard: number;
  /** By virtual shard, then by the first bytes of the accounts in the group. */
  readonly #groups = Array.from({ length: 256 }, () => new Map<string, UpperNode>());
  readonly #virtualShards: (UpperNode | undefined)[] = [];
  readonly #changedGroups = new Map<string, Uint8Array>();
  #isLoaded = false;
  #root: Uint8Array | undefined;

  constructor(db: IndexDatabase, shard: number) {
    this.#db = db;
    this.#shard = shard;
  }

  /** Records that the stored root of an account has changed. */
  changed(account: Uint8Array): void {
    const first = firstOfGroup(account);
    this.#changedGroups.set(first.toHex(), first);
  }

  /** Returns the root of the shard; empty without accounts. Reads all stored roots the first time. */
  root(): Uint8Array {
    if (!this.#isLoaded) this.#load();
    if (this.#root && this.#changedGroups.size === 0) return this.#root;
    const virtualShards = new Set<number>();
    for (const first of this.#changedGroups.values()) {
      this.#readGroup(first);
      virtualShards.add(first[0] as number);
    }
    this.#changedGroups.clear();
    for (const number of virtualShards) this.#combineGroups(number);
    this.#root = rootAbove(
      this.#virtualShards.filter((node) => node !== undefined),
      VIRTUAL_SHARDS,
    );
    return this.#root;
  }

  #load(): void {
    let last: Uint8Array = new Uint8Array();
    for (;;) {
      const page = storedAccountsAfter(this.#db, this.#shard, last, ACCOUNTS_PER_READ);
      for (const { account } of page) this.changed(account);
      if (page.length < ACCOUNTS_PER_READ) break;
      last = page.at(-1)?.account ?? last;
    }
    this.#isLoaded = true;
  }

  #readGroup(first: Uint8Array): void {
    const accounts = accountRootsBetween(this.#db, this.#shard, first, lastOfGroup(first));
    const groups = this.#groups[first[0] as number] as Map<string, UpperNode>;
    if (accounts.length === 0) groups.delete(first.toHex());
    else groups.set(first.toHex(), { prefix: first, root: rootAbove(accounts, ACCOUNTS) });
  }

  #combineGroups(virtualShard: number): void {
    const groups = this.#groups[virtualShard] as Map<string, UpperNode>;
    const prefix = new Uint8Array(ACCOUNT_BYTES);
    prefix[0] = virtualShard;
    this.#virtualShards[virtualShard] =
      groups.size === 0 ? undefined : { prefix, root: rootAbove([...groups.values()], GROUPS) };
  }
}

/** Returns the first account of a group. An account has ten nibbles, the last three of which differ within a group. */
function firstOfGroup(account: Uint8Array): Uint8Array {
  const first = Uint8Array.from(account);
  first[3] = (first[3] as number) & 0xf0;
  first[4] = 0;
  return first;
}

function lastOfGroup(first: Uint8Array): Uint8Array {
  const last = Uint8Array.from(first);
  last[3] = (last[3] as number) | 0x0f;
  last[4] = 0xff;
  return last;
}
