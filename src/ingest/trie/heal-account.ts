import type { IndexDatabase } from "../../db/index/database.ts";
import { correctedKinds, correctionsBelow, setCorrection } from "../../db/index/trie/corrections.ts";
import { DERIVED_KINDS, derivedKeys, isOnAllShards } from "../../db/index/trie/derived-keys.ts";
import type { KindRoots } from "../../db/index/trie/kind-roots.ts";
import { opaqueChildren, putOpaque } from "../../db/index/trie/opaque.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { accountRootOf, childOf, type OpaqueChild } from "../../trust/trie/trie.ts";
import { FNAME_KIND, fidOfKey, kindOfKey, type TrieKey } from "../../trust/trie-key.ts";

/** An account according to a signed root of its shard. */
export interface HealedAccount {
  readonly shard: number;
  readonly account: Uint8Array;
  /** Empty for an account without keys. */
  readonly root: Uint8Array;
  readonly children: readonly OpaqueChild[];
  /** Keys of on-chain events that no row produces, and that it may have. */
  readonly uncertain: readonly TrieKey[];
}

/** Thrown when the account still differs. The transaction is rolled back. */
export class NotHealedError extends Error {
  override name = "NotHealedError";
}

export interface HealDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly kinds: KindRoots;
  /** Number of data shards. */
  readonly shards: number;
}

/** Maximum number of keys of an account that may or may not be in the trie. An account with more is not tried. */
const MAX_UNCERTAIN_KEYS = 6;

/**
 * Adds corrections to an account until it has the root that the network signed, in the transaction that has made its rows
 * equal to another node's. Children without any derived key become opaque. Nothing is taken from the other node unless this
 * root confirms it.
 *
 * @throws NotHealedError when the root cannot be reached.
 */
export function healAccount({ db, network, kinds, shards }: HealDeps, healed: HealedAccount): void {
  const { shard, account, root, children } = healed;
  const fid = fidOfKey(account);
  const isHome = shardOfFid(fid, shards) === shard;
  // On other shards, the kinds that share a nibble with names are on-chain events, which only the home shard has.
  const needsRows = new Set(isHome ? DERIVED_KINDS.map((kind) => kind >> 4) : [0]);
  const before = kinds.ofAccount(shard, account);
  const signed = new Map(children.map((child) => [child.nibble, child]));
  for (let nibble = 0; nibble < 16; nibble++) {
    const target = signed.get(nibble);
    const opaque = opaqueChildren(db, shard, account).find((child) => child.nibble === nibble);
    const own = opaque ?? childOf(nibble, before);
    if (isSame(own, target)) continue;
    if (!needsRows.has(nibble))
      putOpaque(db, {
        shard,
        account,
        nibble,
        root: target?.root ?? new Uint8Array(),
        keys: target?.keys ?? 0,
      });
    else if (nibble === 0) tryUncertain(target);
    else throw new NotHealedError(`nibble ${nibble}`);
  }
  const computed = accountRootOf(kinds.ofAccount(shard, account), opaqueChildren(db, shard, account));
  if (Buffer.compare(computed?.root ?? new Uint8Array(), root) !== 0) throw new NotHealedError("root");

  /**
   * Tries each subset of the uncertain keys. A name that was proved again has left the trie, which no list shows; a
   * registration of a channel is read from shard 0.
   */
  function tryUncertain(target: OpaqueChild | undefined): void {
    const named = [...correctedKinds(db, shard, account), ...healed.uncertain.map(kindOfKey)];
    const uncertain = [...new Set([FNAME_KIND, ...named])].filter((kind) => kind <= FNAME_KIND);
    const keys = uncertainKeys(uncertain);
    if (keys.length > MAX_UNCERTAIN_KEYS) return;
    const others = before.filter(({ kind }) => kind >> 4 === 0 && !uncertain.includes(kind));
    for (let absent = 0; absent < 2 ** keys.length; absent++) {
      for (const [at, { key, isDerived }] of keys.entries()) {
        const isPresent = ((absent >> at) & 1) === 0;
        setCorrection(db, shard, key, isPresent === isDerived ? undefined : isPresent);
      }
      const tried = uncertain.flatMap((kind) => kinds.ofKind(shard, account, kind) ?? []);
      const all = [...others, ...tried].sort((a, b) => a.kind - b.kind);
      if (isSame(childOf(0, all), target)) return;
    }
  }

  /** Returns the uncertain keys, and those of the kinds that rows produce or corrections name. */
  function uncertainKeys(kinds: readonly number[]): { readonly key: TrieKey; readonly isDerived: boolean }[] {
    const keys = new Map(healed.uncertain.map((key) => [key.toHex(), { key, isDerived: false }]));
    for (const kind of kinds) {
      const prefix = Buffer.concat([account, Uint8Array.of(kind)]);
      for (const { key } of correctionsBelow(db, shard, prefix))
        keys.set(key.toHex(), { key, isDerived: false });
      if (isHome || isOnAllShards(kind))
        derivedKeys(db, network, fid, kind, (rest) => {
          const key = Buffer.concat([prefix, rest]);
          keys.set(key.toHex(), { key, isDerived: true });
        });
    }
    return [...keys.values()];
  }
}

function isSame(own: OpaqueChild | undefined, signed: OpaqueChild | undefined): boolean {
  if (!own || !signed) return own === signed;
  return Buffer.compare(own.root, signed.root) === 0;
}
