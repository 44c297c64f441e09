import { shardOfFid } from "../../../protocol/network/shard.ts";
import type { FarcasterNetwork } from "../../../protocol/wire/generated/message.ts";
import type { KindKeys } from "../../../trust/trie/kept-kind.ts";
import { type KindRoot, KindTrie } from "../../../trust/trie/trie.ts";
import { ACCOUNT_BYTES, fidOfKey, MAX_KEY_BYTES, REST_START, restBytesOf } from "../../../trust/trie-key.ts";
import type { IndexDatabase } from "../database.ts";
import { correctedKinds, correctionsBelow } from "./corrections.ts";
import { DERIVED_KINDS, derivedKeys, isOnAllShards } from "./derived-keys.ts";

/** Computes the roots of the kinds of an account's keys in a shard, from the rows of the index and their corrections. */
export class KindRoots {
  readonly #db: IndexDatabase;
  readonly #network: FarcasterNetwork;
  readonly #shards: number;
  readonly #trie = new KindTrie();

  /** @param shards the number of data shards. */
  constructor(db: IndexDatabase, network: FarcasterNetwork, shards: number) {
    this.#db = db;
    this.#network = network;
    this.#shards = shards;
  }

  /** Returns the roots of all kinds of an account, in ascending order. */
  ofAccount(shard: number, account: Uint8Array): KindRoot[] {
    const isHome = shardOfFid(fidOfKey(account), this.#shards) === shard;
    const derived = isHome ? DERIVED_KINDS : DERIVED_KINDS.filter(isOnAllShards);
    const corrected = correctedKinds(this.#db, shard, account);
    const others = corrected.filter((kind) => !derived.includes(kind));
    const kinds = others.length === 0 ? derived : [...derived, ...others].sort((a, b) => a - b);
    return kinds.flatMap((kind) => this.#compute(shard, account, kind, corrected.includes(kind)) ?? []);
  }

  /** Returns the root of one kind of an account; undefined if it has no key of the kind. */
  ofKind(shard: number, account: Uint8Array, kind: number): KindRoot | undefined {
    return this.#compute(shard, account, kind, true);
  }

  /** Returns the keys of the root that was returned last. They are valid until the next root is computed. */
  lastKeys(): KindKeys {
    return this.#trie.keys();
  }

  /** A damaged row has no key, so the root differs from the stored and the signed one. */
  #compute(shard: number, account: Uint8Array, kind: number, isCorrected: boolean): KindRoot | undefined {
    const trie = this.#trie;
    trie.start(account, kind);
    let width = restBytesOf(kind);
    const add = (rest: Uint8Array) => {
      width ??= rest.length;
      if (rest.length === width && width <= MAX_KEY_BYTES - REST_START) trie.add(rest);
    };
    const absent = new Set<string>();
    const corrections = isCorrected ? correctionsBelow(this.#db, shard, kindPrefix(account, kind)) : [];
    for (const { key, isPresent } of corrections) {
      const rest = key.subarray(REST_START);
      if (isPresent) add(rest);
      else absent.add(rest.toHex());
    }
    const fid = fidOfKey(account);
    if (isOnAllShards(kind) || shardOfFid(fid, this.#shards) === shard)
      derivedKeys(this.#db, this.#network, fid, kind, (rest) => {
        if (absent.size === 0 || !absent.has(rest.toHex())) add(rest);
      });
    const root = trie.root();
    return root && { kind, ...root };
  }
}

function kindPrefix(account: Uint8Array, kind: number): Uint8Array {
  const prefix = new Uint8Array(REST_START);
  prefix.set(account);
  prefix[ACCOUNT_BYTES] = kind;
  return prefix;
}
