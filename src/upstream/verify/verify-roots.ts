import { setImmediate } from "node:timers/promises";
import { shardCount } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { networkOfIndex } from "../../db/index/identity.ts";
import {
  countDirty,
  type DirtyKind,
  decodeKinds,
  dirtyKindsFrom,
  dirtyKindsOf,
  storedAccount,
  storedAccountsAfter,
} from "../../db/index/trie/account-roots.ts";
import { correctedAccounts, foreignKeys } from "../../db/index/trie/corrections.ts";
import { fidWithKeysAfter } from "../../db/index/trie/derived-keys.ts";
import { KindRoots } from "../../db/index/trie/kind-roots.ts";
import { keysKnownFrom } from "../../db/index/trie/known-keys.ts";
import { countOpaqueKeys, opaqueChildren } from "../../db/index/trie/opaque.ts";
import { areRootsKept } from "../../db/index/trie/shard-proofs.ts";
import { type ChainHead, chainHeadOf } from "../../db/index/upstream-work.ts";
import { isEqual } from "../../trust/certificate.ts";
import { kindName } from "../../trust/kind-names.ts";
import { accountRootOf, type KindRoot, ShardTrie } from "../../trust/trie/trie.ts";
import { accountPrefix, fidOfKey } from "../../trust/trie-key.ts";
import { type Healed, healedAccounts } from "../chain/proofs.ts";
import { UpstreamPositions } from "../positions.ts";

/** Result of comparing the trie of a data shard with the root that the network's validators signed. */
export interface ShardRoots {
  readonly shard: number;
  /** The newest applied block. */
  readonly height: number;
  readonly keys: number;
  readonly accounts: number;
  /** Number of keys that the network has and no row of the index produces. */
  readonly foreign: number;
  /** Number of keys below children of accounts that are only known by a signed root. */
  readonly opaque: number;
  /** `unsigned`: no verified block of this height is stored, so there is nothing to compare with. */
  readonly verdict: "proven" | "differs" | "unsigned";
  /**
   * Whether the index knows all keys of the shard. An index that was filled fid by fid does not, and may differ just for
   * that reason.
   */
  readonly areKeysKnown: boolean;
  /** In hex; empty for a shard without keys. */
  readonly root: string;
  readonly signedRoot: string | null;
}

/**
 * An account of the index that has changed since its root was computed, or that differs from what a transaction of the
 * network says.
 */
export interface AccountDifference {
  readonly shard: number;
  readonly fid: number;
  /** The kinds of keys that differ (such as `cast_add`); empty if only the root of the account is known. */
  readonly kinds: readonly string[];
  readonly from: "stored_root" | "network";
}

export interface RootsReport {
  /** Empty if only some fids were verified. */
  readonly shards: readonly ShardRoots[];
  /** Number of verified accounts, each counted once per shard that has it. */
  readonly accounts: number;
  /** Whether roots of accounts are stored. Without them, only the shards are compared. */
  readonly areAccountsCompared: boolean;
  /** At most 1,000 of them. */
  readonly differences: readonly AccountDifference[];
  readonly differing: number;
  /** Accounts that no upstream could repair, at most 100. */
  readonly quarantined: Healed["quarantined"];
}

const MAX_LISTED = 1000;
const FIDS_PER_SNAPSHOT = 64;
const ROWS_PER_READ = 1000;

/**
 * Computes the roots of the data shards from the rows of the index and compares them with those that the validators signed.
 * It needs no upstream. While the node maintains the roots of accounts, it reads a range of accounts in each snapshot and
 * compares them with the roots stored there; the roots of the shards are then derived from one snapshot of those. Otherwise
 * everything is read in one snapshot.
 *
 * @param fids verifies only these accounts, not the roots of shards.
 */
export async function verifyRoots(
  db: IndexDatabase,
  signal: AbortSignal,
  fids?: readonly number[],
): Promise<RootsReport> {
  const run = new Verification(db);
  if (fids) {
    for (const fid of fids) db.snapshot(() => run.compareStored(fid));
    return run.report([]);
  }
  if (!areRootsKept(db)) return db.snapshot(() => run.report(run.computeAll()));
  for (let fid: number | undefined = -1; fid !== undefined; ) {
    const after: number = fid;
    fid = db.snapshot(() => run.compareRange(after));
    await setImmediate();
    signal.throwIfAborted();
  }
  return db.snapshot(() => run.report(run.combineStored()));
}

/** Sums over the accounts of a shard. */
interface Sum {
  readonly trie: ShardTrie;
  keys: number;
  accounts: number;
}

class Verification {
  readonly #db: IndexDatabase;
  readonly #kinds: KindRoots;
  readonly #shards: number;
  readonly #differences: AccountDifference[] = [];
  #differing = 0;
  #accounts = 0;

  constructor(db: IndexDatabase) {
    this.#db = db;
    this.#shards = shardCount(db);
    this.#kinds = new KindRoots(db, networkOfIndex(db), this.#shards);
  }

  report(shards: readonly ShardRoots[]): RootsReport {
    const differences = this.#differences.toSorted((a, b) => a.fid - b.fid || a.shard - b.shard);
    const { quarantined } = healedAccounts(this.#db);
    return {
      shards,
      accounts: this.#accounts,
      areAccountsCompared: areRootsKept(this.#db),
      differences,
      differing: this.#differing,
      quarantined,
    };
  }

  /**
   * Compares the accounts of the next fids after `fid` with the stored roots. Returns the last of them; undefined at the
   * end.
   */
  compareRange(fid: number): number | undefined {
    let last = fid;
    for (let count = 0; count < FIDS_PER_SNAPSHOT; count++) {
      const next = fidWithKeysAfter(this.#db, last);
      if (next === undefined) return undefined;
      this.compareStored(next);
      last = next;
    }
    return last;
  }

  /** Compares an account with its stored roots, on each shard. */
  compareStored(fid: number): void {
    const account = accountPrefix(fid);
    for (let shard = 1; shard <= this.#shards; shard++) {
      const kinds = this.#kinds.ofAccount(shard, account);
      const stored = storedAccount(this.#db, shard, account);
      if (kinds.length + (stored ? 1 : 0) === 0) continue;
      this.#accounts += 1;
      if (!areRootsKept(this.#db)) continue;
      const dirty = new Set(dirtyKindsOf(this.#db, shard, account).map(({ kind }) => kind));
      const differing = differingKinds(kinds, stored ? decodeKinds(stored.kinds) : []).filter(
        (kind) => !dirty.has(kind),
      );
      if (differing.length > 0)
        this.#differs({ shard, fid, kinds: differing.map(kindName), from: "stored_root" });
      else if (stored?.claimed) this.#differs({ shard, fid, kinds: [], from: "network" });
    }
  }

  /** Computes the root of each shard from all rows. */
  computeAll(): ShardRoots[] {
    const sums = this.#newSums();
    for (let fid = fidWithKeysAfter(this.#db, -1); fid !== undefined; fid = fidWithKeysAfter(this.#db, fid))
      for (const [shard, sum] of sums) this.#addComputed(sum, shard, accountPrefix(fid));
    for (const [shard, sum] of sums)
      for (const account of correctedAccounts(this.#db, shard))
        if (!this.#hasRows(account)) this.#addComputed(sum, shard, account);
    return this.#verdicts(sums);
  }

  /** Computes the root of each shard from the stored roots of its accounts, recomputing those that are out of date. */
  combineStored(): ShardRoots[] {
    const sums = this.#newSums();
    for (const [shard, sum] of sums) {
      const dirty = new Set(this.#allDirty(shard).map(({ account }) => account.toHex()));
      for (const stored of this.#storedAccounts(shard)) {
        const { account, root } = stored;
        if (dirty.delete(account.toHex())) this.#addComputed(sum, shard, account);
        else {
          sum.trie.add({ prefix: account, root });
          sum.accounts += 1;
          for (const { keys } of decodeKinds(stored.kinds)) sum.keys += keys;
          sum.keys += opaqueChildren(this.#db, shard, account).reduce((all, { keys }) => all + keys, 0);
          if (!this.#hasRows(account)) this.#compareWithoutRows(shard, stored);
        }
      }
      for (const account of dirty) this.#addComputed(sum, shard, Uint8Array.fromHex(account));
    }
    return this.#verdicts(sums);
  }

  /** Compares an account whose rows are all deleted, which was not found by its rows. */
  #compareWithoutRows(shard: number, { account, kinds }: { account: Uint8Array; kinds: Uint8Array }): void {
    const differing = differingKinds(this.#kinds.ofAccount(shard, account), decodeKinds(kinds));
    const fid = fidOfKey(account);
    if (differing.length > 0)
      this.#differs({ shard, fid, kinds: differing.map(kindName), from: "stored_root" });
  }

  #addComputed(sum: Sum, shard: number, account: Uint8Array): void {
    const computed = accountRootOf(
      this.#kinds.ofAccount(shard, account),
      opaqueChildren(this.#db, shard, account),
    );
    if (!computed) return;
    sum.trie.add({ prefix: account, root: computed.root });
    sum.accounts += 1;
    sum.keys += computed.keys;
    this.#accounts += 1;
  }

  #verdicts(sums: ReadonlyMap<number, Sum>): ShardRoots[] {
    const positions = new UpstreamPositions(this.#db);
    return [...sums].map(([shard, { trie, keys, accounts }]) => {
      const height = positions.applied(shard) ?? 0;
      const head = chainHeadOf(this.#db, shard);
      const signed = signedAt(head, height);
      const root = trie.root();
      const verdict = !signed ? "unsigned" : isEqual(signed, root) ? "proven" : "differs";
      return {
        shard,
        height,
        keys,
        accounts,
        foreign: foreignKeys(this.#db, shard),
        opaque: countOpaqueKeys(this.#db, shard),
        verdict,
        areKeysKnown: keysKnownFrom(this.#db, shard) !== undefined,
        root: root.toHex(),
        signedRoot: signed?.toHex() ?? null,
      };
    });
  }

  #differs(difference: AccountDifference): void {
    this.#differing += 1;
    if (this.#differences.length < MAX_LISTED) this.#differences.push(difference);
  }

  #newSums(): Map<number, Sum> {
    const shards = Array.from({ length: this.#shards }, (_, index) => index + 1);
    return new Map(shards.map((shard) => [shard, { trie: new ShardTrie(), keys: 0, accounts: 0 }]));
  }

  #hasRows(account: Uint8Array): boolean {
    const fid = fidOfKey(account);
    return fidWithKeysAfter(this.#db, fid - 1) === fid;
  }

  *#storedAccounts(shard: number) {
    let last: Uint8Array = new Uint8Array();
    for (;;) {
      const page = storedAccountsAfter(this.#db, shard, last, ROWS_PER_READ);
      yield* page;
      if (page.length < ROWS_PER_READ) return;
      last = page.at(-1)?.account ?? last;
    }
  }

  #allDirty(shard: number): DirtyKind[] {
    return dirtyKindsFrom(this.#db, shard, new Uint8Array(), countDirty(this.#db, shard));
  }
}

/** Returns the kinds whose roots or numbers of keys differ. */
function differingKinds(computed: readonly KindRoot[], stored: readonly KindRoot[]): number[] {
  const roots = (kinds: readonly KindRoot[]) =>
    new Map(kinds.map(({ kind, root, keys }) => [kind, `${root.toHex()} ${keys}`]));
  const [ours, theirs] = [roots(computed), roots(stored)];
  return [...new Set([...ours.keys(), ...theirs.keys()])]
    .filter((kind) => ours.get(kind) !== theirs.get(kind))
    .sort((a, b) => a - b);
}

/** Returns the root that was signed for a height; undefined if the newest verified block has another height. */
function signedAt(head: ChainHead | undefined, height: number): Uint8Array | undefined {
  return head && head.height === height && head.certified === height ? head.root : undefined;
}
