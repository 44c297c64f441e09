import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { getPosition } from "../../db/index/positions.ts";
import {
  decodeKinds,
  dirtyKindsFrom,
  dirtyKindsOf,
  dropDirty,
  dropDirtyAccount,
  dropStoredAccount,
  encodeKinds,
  isAnyDirty,
  isDirty,
  markDirty,
  putStoredAccount,
  storedAccount,
} from "../../db/index/trie/account-roots.ts";
import { correctedAccounts } from "../../db/index/trie/corrections.ts";
import { fidWithKeysAfter } from "../../db/index/trie/derived-keys.ts";
import { releaseQuarantined } from "../../db/index/trie/heals.ts";
import { KindRoots } from "../../db/index/trie/kind-roots.ts";
import { keysKnownFrom } from "../../db/index/trie/known-keys.ts";
import { isOpaque, opaqueChildren } from "../../db/index/trie/opaque.ts";
import {
  areRootsKept,
  putShardProof,
  rootsComputedUpTo,
  setRootsComputed,
  shardProof,
} from "../../db/index/trie/shard-proofs.ts";
import { chainHeadOf } from "../../db/index/upstream-work.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { accountRootOf, type KindRoot } from "../../trust/trie/trie.ts";
import { accountPrefix, fidOfKey } from "../../trust/trie-key.ts";
import type { ClaimedRoot } from "../block-keys.ts";
import { KeptKinds } from "./kept-kinds.ts";
import type { ChangedKind } from "./key-changes.ts";
import { UpperLevels } from "./upper-levels.ts";
import type { WorkBudget } from "./work-budget.ts";

/** Changes of a batch of blocks to the tries. */
export interface ChangedTries {
  /** The data shard of the blocks; undefined for those of shard 0, and for changes outside of blocks. */
  readonly shard: number | undefined;
  readonly kinds: readonly ChangedKind[];
  readonly claimedRoots: Iterable<ClaimedRoot>;
  /** Unix seconds. */
  readonly nowSecs: number;
}

/** Maintains the roots of accounts and compares the roots of shards, in the transactions that change them. */
export type RootKeeper = ReturnType<typeof createRootKeeper>;

export interface RootKeeperDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly budget: WorkBudget;
  /** For accounts without a root, of which there may be millions. Default: the same budget. */
  readonly firstBudget?: WorkBudget;
  /** For accounts that no block has changed. Default: the same budget. */
  readonly scrubBudget?: WorkBudget;
  /** Kinds of an account with more keys than this are computed later, at most once an hour each. */
  readonly maxKeysAtOnce: number;
}

const DIRTY_PER_READ = 64;
const LARGE_EVERY_SECS = 3600;
const MAX_LARGE = 10_000;

export function createRootKeeper(deps: RootKeeperDeps) {
  const { db, network, budget, firstBudget = budget, scrubBudget = budget, maxKeysAtOnce } = deps;
  let kinds: KindRoots | undefined;
  const kept = new KeptKinds();
  let upper = new Map<number, UpperLevels>();
  /** When each large kind was last computed. */
  const largeAt = new Map<string, number>();
  /** The last account that was computed without a change. */
  let scrubbedUpTo = -1;
  /** Where the next search for outdated kinds starts. */
  const dirtyFrom = new Map<number, Uint8Array>();

  const kindRoots = () => (kinds ??= new KindRoots(db, network, shardCount(db)));
  const levelsOf = (shard: number) => upper.getOrInsertComputed(shard, () => new UpperLevels(db, shard));

  /** Called at the end of each batch of verified blocks, inside its transaction and after its positions. */
  function update({ shard, kinds: changed, claimedRoots, nowSecs }: ChangedTries): void {
    computeFirst();
    const computedUpTo = rootsComputedUpTo(db);
    for (const one of changed) {
      // The kinds of later accounts are computed together with the accounts.
      if (fidOfKey(one.account) > computedUpTo) continue;
      if (!recompute(one, nowSecs)) markDirty(db, one.shard, one.account, one.kind);
    }
    for (let one = 1; one <= shardCount(db); one++) repair(one, nowSecs);
    if (!areRootsKept(db)) return;
    if (shard !== undefined) scrub();
    const compared = shard === undefined ? new Set(changed.map((one) => one.shard)) : [shard];
    for (const one of compared) compare(one, claimedRoots, nowSecs);
  }

  /**
   * Recomputes an account that no block has changed, at most one per batch, because the disk may lose rows. The next
   * comparison with a signed root then shows it.
   */
  function scrub(): void {
    if (!scrubBudget.hasRoom()) return;
    const fid = fidWithKeysAfter(db, scrubbedUpTo);
    scrubbedUpTo = fid ?? -1;
    if (fid === undefined) return;
    const account = accountPrefix(fid);
    for (let shard = 1; shard <= shardCount(db); shard++) {
      const stored = storedAccount(db, shard, account);
      const keys = stored ? decodeKinds(stored.kinds).reduce((sum, { keys }) => sum + keys, 0) : 0;
      if (keys > maxKeysAtOnce) continue;
      scrubBudget.spend(() => {
        const of = kindRoots().ofAccount(shard, account);
        const computed = accountRootOf(of, opaqueChildren(db, shard, account))?.root ?? new Uint8Array();
        const isDue = dirtyKindsOf(db, shard, account).length > 0;
        if (!isDue && Buffer.compare(computed, stored?.root ?? new Uint8Array()) !== 0)
          store(shard, account, of);
      });
    }
  }

  /** Computes the roots of accounts that have none yet, as far as the budget allows. */
  function computeFirst(): void {
    if (areRootsKept(db)) return;
    let fid = rootsComputedUpTo(db);
    while (firstBudget.hasRoom()) {
      const next = fidWithKeysAfter(db, fid);
      if (next === undefined) {
        firstBudget.spend(computeWithoutRows);
        setRootsComputed(db, undefined);
        return;
      }
      firstBudget.spend(() => {
        for (let shard = 1; shard <= shardCount(db); shard++) computeAccount(shard, accountPrefix(next));
      });
      fid = next;
    }
    setRootsComputed(db, fid);
  }

  function computeWithoutRows(): void {
    for (let shard = 1; shard <= shardCount(db); shard++)
      for (const account of correctedAccounts(db, shard))
        if (!storedAccount(db, shard, account)) computeAccount(shard, account);
  }

  function computeAccount(shard: number, account: Uint8Array): void {
    store(shard, account, kindRoots().ofAccount(shard, account));
  }

  /** Recomputes the root of a kind, unless it has to wait. Returns whether it did. Kept keys cost next to nothing. */
  function recompute(changed: ChangedKind, nowSecs: number): boolean {
    const { shard, account, kind } = changed;
    const isBelowOpaque = isOpaque(db, shard, account, kind);
    // It waits until the child has been read again.
    if (isBelowOpaque && isDirty(db, shard, account, kind)) return false;
    const stored = storedAccount(db, shard, account);
    const before = stored ? decodeKinds(stored.kinds) : [];
    const others = before.filter((one) => one.kind !== kind);
    const put = (root: KindRoot | undefined) => {
      store(shard, account, root ? [...others, root].sort((a, b) => a.kind - b.kind) : others);
      dropDirty(db, shard, account, kind);
    };
    const ofKind = before.find((one) => one.kind === kind);
    const applied = isBelowOpaque ? undefined : kept.apply(changed, ofKind, nowSecs, budget.hasRoom);
    if (applied) {
      put(applied === "empty" ? undefined : { kind, ...applied });
      return true;
    }
    if (!budget.hasRoom()) return false;
    const name = `${shard} ${account.toHex()} ${kind}`;
    if ((ofKind?.keys ?? 0) > maxKeysAtOnce) {
      if (nowSecs - (largeAt.get(name) ?? 0) < LARGE_EVERY_SECS) return false;
      if (largeAt.size >= MAX_LARGE) largeAt.clear();
      largeAt.set(name, nowSecs);
    }
    budget.spend(() => {
      const computed = isBelowOpaque ? undefined : kindRoots().ofKind(shard, account, kind);
      if (computed) kept.keep(changed, kindRoots().lastKeys(), computed, nowSecs);
      put(computed);
    });
    return true;
  }

  function store(shard: number, account: Uint8Array, of: readonly KindRoot[]): void {
    const computed = accountRootOf(of, opaqueChildren(db, shard, account));
    if (computed)
      putStoredAccount(db, shard, { account, root: computed.root, kinds: encodeKinds(of), claimed: null });
    else dropStoredAccount(db, shard, account);
    levelsOf(shard).changed(account);
  }

  /** Computes kinds that had to wait. */
  function repair(shard: number, nowSecs: number): void {
    if (!isAnyDirty(db, shard)) return;
    const from = dirtyFrom.get(shard) ?? new Uint8Array();
    const dirty = dirtyKindsFrom(db, shard, from, DIRTY_PER_READ);
    const isEnd = dirty.length < DIRTY_PER_READ;
    for (const { account, kind } of dirty) {
      if (!budget.hasRoom()) return;
      dirtyFrom.set(shard, account);
      recompute({ shard, account, kind }, nowSecs);
    }
    if (isEnd) dirtyFrom.delete(shard);
  }

  /** Compares the root of a shard with the signed one of its newest applied block. */
  function compare(shard: number, claimedRoots: Iterable<ClaimedRoot>, nowSecs: number): void {
    const head = chainHeadOf(db, shard);
    const applied = getPosition(db, `upstream ${shard} applied`);
    if (!head || head.height !== applied || head.certified !== applied || isAnyDirty(db, shard)) return;
    if (head.height < (keysKnownFrom(db, shard) ?? 0)) return;
    const before = shardProof(db, shard);
    if (Buffer.compare(levelsOf(shard).root(), head.root) === 0) {
      putShardProof(db, shard, {
        ...before,
        provenHeight: head.height,
        provenAt: nowSecs,
        mismatchHeight: null,
      });
      releaseQuarantined(db, shard);
      return;
    }
    if (before.mismatchHeight === null)
      putShardProof(db, shard, {
        ...before,
        mismatchHeight: head.height,
        mismatches: before.mismatches + 1,
      });
    for (const claimed of claimedRoots) nameAccount(shard, claimed);
  }

  /** Stores the root that a transaction names for an account, if it differs from the computed one. */
  function nameAccount(shard: number, { account, root }: ClaimedRoot): void {
    const stored = storedAccount(db, shard, account);
    if (Buffer.compare(stored?.root ?? new Uint8Array(), root) === 0) return;
    const { root: computed, kinds: of } = stored ?? { root: new Uint8Array(), kinds: new Uint8Array() };
    putStoredAccount(db, shard, { account, root: computed, kinds: of, claimed: root });
  }

  return {
    update,
    /** Recomputes the root of an account, whatever is stored, and compares that of its shard. */
    recompute(shard: number, account: Uint8Array, nowSecs: number): void {
      dropDirtyAccount(db, shard, account);
      computeAccount(shard, account);
      if (areRootsKept(db)) compare(shard, [], nowSecs);
    },
    /** Discards what a rolled-back transaction has computed. */
    discard(): void {
      upper = new Map();
      dirtyFrom.clear();
    },
  };
}
