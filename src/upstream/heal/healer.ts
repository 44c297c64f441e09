import type { IndexDatabase } from "../../db/index/database.ts";
import {
  accountRootsBetween,
  accountsClaimedOtherwise,
  decodeKinds,
  isAnyDirty,
  storedAccount,
} from "../../db/index/trie/account-roots.ts";
import {
  healedPositions,
  healsTriedToday,
  isTriedAgain,
  quarantinedAccounts,
  quarantinedPosition,
  triedHealing,
} from "../../db/index/trie/heals.ts";
import { staleOpaque } from "../../db/index/trie/opaque.ts";
import { shardProof } from "../../db/index/trie/shard-proofs.ts";
import type { RelayedOp } from "../../ingest/relayed-op.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import { nodeOf } from "../../trust/account-path.ts";
import { isEqual } from "../../trust/certificate.ts";
import { kindName } from "../../trust/kind-names.ts";
import { childOf, type KindRoot, type OpaqueChild, rootAbove } from "../../trust/trie/trie.ts";
import { ACCOUNT_BYTES, fidOfKey } from "../../trust/trie-key.ts";
import type { RelayWriter } from "../blocks/op-batcher.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { readChildren } from "../calls/trie-nodes.ts";
import { type Timings, wait } from "../timings.ts";
import { type HealingRead, type HealingReadDeps, readHealingOps } from "./healing-ops.ts";
import { readProvenAccount } from "./proven-account.ts";

/** The outcome of healing an account that differed from the signed state. */
export interface Healing {
  readonly outcome: "healed" | "quarantined";
  readonly shard: number;
  readonly fid: number;
  /** The kinds of keys that differed (such as `cast_add`), as far as they are known. */
  readonly kinds: readonly string[];
}

export interface HealerDeps extends Omit<HealingReadDeps, "client"> {
  readonly client: UpstreamClient;
  /** Returns another node of the network; undefined if there is none. */
  readonly second: () => UpstreamClient | undefined;
  readonly writer: Pick<RelayWriter, "apply">;
  /** Number of data shards. */
  readonly shards: number;
  /**
   * Whether a release has proven the state of this network. If not, this program may lack one of its rules, and nothing is
   * healed.
   */
  readonly mayHeal: boolean;
  readonly timings: Timings;
  readonly signal: AbortSignal;
  readonly onHealing: (healing: Healing) => void;
  readonly onFault: (what: string, cause: unknown) => void;
}

/** Beyond this, a rule is missing or the index is damaged, and reading more would only load the upstream. */
export const MAX_HEALS_PER_DAY = 100;
const ACCOUNTS_PER_LOOK = 8;
/** Pause after a search that found nothing to heal, in seconds. */
const SEARCH_EVERY_SECS = 600;

/**
 * Makes accounts equal to the signed state while blocks are applied. Whatever a node sends, an account changes only into
 * what a signed root binds: the nodes of the trie that lead to it are verified up to that root, and the writer keeps nothing
 * that does not end there. While a shard differs, each search is guided by another node, because the followed one may hide
 * what it has left out.
 */
export async function runHealer(deps: HealerDeps): Promise<void> {
  const { timings, signal, onFault } = deps;
  const searchedAt = new Map<string, number>();
  let looks = 0;
  while (!signal.aborted) {
    await wait(timings.headPollMs, signal);
    const [guide, other] = looks++ % 2 === 0 ? [deps.client, deps.second()] : [deps.second(), deps.client];
    const guided = { ...deps, client: guide ?? deps.client, second: () => (guide ? other : undefined) };
    const isSecond = guide !== undefined && guide !== deps.client;
    for (let shard = 1; shard <= deps.shards && !signal.aborted; shard++) {
      try {
        await refreshOpaque(guided, shard);
        if (deps.mayHeal) await healShard(guided, shard, searchedAt, `${shard} ${isSecond}`);
      } catch (cause) {
        if (!signal.aborted)
          onFault(`the state of shard ${shard} could not be compared with a node's`, cause);
      }
    }
  }
}

/** Reads opaque children again whose keys have changed. The next signed root shows whether they are correct. */
async function refreshOpaque({ client, db, writer }: HealerDeps, shard: number): Promise<void> {
  const stale = staleOpaque(db, shard, new Uint8Array(), ACCOUNTS_PER_LOOK);
  const ops: RelayedOp[] = [];
  for (const { account, kind } of stale) {
    const nibble = kind >> 4;
    const child = (await readChildren(client, shard, account)).find((one) => one.nibble === nibble);
    const { root, keys } = child ?? { root: new Uint8Array(), keys: 0 };
    ops.push({ kind: "opaque", child: { shard, account, nibble, root, keys }, happenedAt: 0 });
  }
  if (ops.length > 0) await writer.apply({ ops, positions: [] });
}

/** @param search key of this search in `searchedAt`. */
async function healShard(
  deps: HealerDeps,
  shard: number,
  searchedAt: Map<string, number>,
  search: string,
): Promise<void> {
  const { client, db, rules } = deps;
  if (shardProof(db, shard).mismatchHeight === null || isAnyDirty(db, shard)) return;
  const quarantined = new Set(
    quarantinedAccounts(db)
      .filter((one) => !isTriedAgain(db, one, rules.nowUnixSecs))
      .map((one) => `${one.shard} ${one.account.toHex()}`),
  );
  const isFree = (account: Uint8Array) => !quarantined.has(`${shard} ${account.toHex()}`);
  let accounts = accountsClaimedOtherwise(db, shard, ACCOUNTS_PER_LOOK).filter(isFree);
  if (accounts.length === 0) {
    const last = searchedAt.get(search);
    if (last !== undefined && rules.nowUnixSecs - last < SEARCH_EVERY_SECS) return;
    accounts = (await findDiffering(client, db, shard, ACCOUNTS_PER_LOOK + quarantined.size)).filter(isFree);
    if (accounts.length === 0) searchedAt.set(search, rules.nowUnixSecs);
  }
  for (const account of accounts) {
    if (healsTriedToday(db, rules.nowUnixSecs) >= MAX_HEALS_PER_DAY) return;
    // The node is dishonest, or not at our block. The next search has another guide.
    if ((await healOne(deps, shard, account)) === "unproven") return;
    deps.signal.throwIfAborted();
  }
}

async function healOne(
  deps: HealerDeps,
  shard: number,
  account: Uint8Array,
): Promise<"unproven" | undefined> {
  const { client, second, db, rules, signal, writer, onHealing, onFault } = deps;
  const proven = await readProvenAccount(deps, shard, account);
  if (!proven) return "unproven";
  const before = storedOf(db, shard, account);
  const isEqualNow = () => isEqual(storedOf(db, shard, account).root, proven.root);
  // The claim was true for an earlier block.
  const wasEqual = isEqualNow();
  const heal = async ({ ops, uncertain }: HealingRead) => {
    const { root, children } = proven;
    const positions = wasEqual ? [] : healedPositions(db, { shard, account }, rules.nowUnixSecs);
    await writer.apply({ ops, positions, healed: { shard, account, root, children, uncertain } });
    return isEqualNow();
  };
  // The stored rows may be right, and only what was computed from them wrong.
  let isHealed = await heal({ ops: [], uncertain: [] });
  if (wasEqual) return undefined;
  const fid = fidOfKey(account);
  await writer.apply({ ops: [], positions: triedHealing(db, rules.nowUnixSecs) });
  const isHome = fid > 0 && shardOfFid(fid, deps.shards) === shard;
  let isRead = true;
  for (const node of isHome ? [client, second()] : []) {
    if (!node || isHealed) continue;
    try {
      isHealed = await heal(await readHealingOps({ ...deps, client: node }, fid));
    } catch (cause) {
      signal.throwIfAborted();
      isRead = false;
      onFault(`fid ${fid} could not be read to heal it`, cause);
    }
  }
  if (isHealed) {
    const kinds = differing(before.kinds, storedOf(db, shard, account).kinds);
    onHealing({ outcome: "healed", shard, fid, kinds });
    return undefined;
  }
  if (!isRead) return undefined;
  // A block may have changed the account in the meantime.
  const now = await readProvenAccount(deps, shard, account);
  if (!now || !isEqual(now.root, proven.root)) return undefined;
  await writer.apply({ ops: [], positions: [quarantinedPosition(shard, account, rules.nowUnixSecs)] });
  onHealing({ outcome: "quarantined", shard, fid, kinds: differingFrom(before.kinds, proven.children) });
  return undefined;
}

function storedOf(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
): { readonly root: Uint8Array; readonly kinds: readonly KindRoot[] } {
  const stored = storedAccount(db, shard, account);
  return stored
    ? { root: stored.root, kinds: decodeKinds(stored.kinds) }
    : { root: new Uint8Array(), kinds: [] };
}

/** Returns the kinds that differ between two states of an account. */
function differing(before: readonly KindRoot[], after: readonly KindRoot[]): string[] {
  const roots = (kinds: readonly KindRoot[]) => new Map(kinds.map(({ kind, root }) => [kind, root.toHex()]));
  const [old, now] = [roots(before), roots(after)];
  const kinds = new Set([...old.keys(), ...now.keys()]);
  return [...kinds]
    .filter((kind) => old.get(kind) !== now.get(kind))
    .sort((a, b) => a - b)
    .map(kindName);
}

/** Returns the kinds that may differ from a signed account: all kinds below a child with another hash. */
function differingFrom(kinds: readonly KindRoot[], signed: readonly OpaqueChild[]): string[] {
  const nibbles = Array.from({ length: 16 }, (_, nibble) => nibble).filter((nibble) => {
    const own = childOf(nibble, kinds);
    const other = signed.find((child) => child.nibble === nibble);
    return own && other ? !isEqual(own.root, other.root) : own !== other;
  });
  return nibbles.flatMap((nibble) =>
    [nibble << 4, (nibble << 4) | 8].filter((kind) => kind > 0).map(kindName),
  );
}

/** Maximum number of calls, for an upstream that says that everything differs but nothing below it does. */
const MAX_CALLS = 4000;
const ACCOUNT_DEPTH = 2 * ACCOUNT_BYTES;

/**
 * Returns at most `limit` accounts of a shard whose root differs in another node's current trie, descending where the hashes
 * differ. Accounts that a block has changed in the meantime are among them.
 */
async function findDiffering(
  client: Pick<UpstreamClient, "trieChildren">,
  db: IndexDatabase,
  shard: number,
  limit: number,
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  let calls = 0;
  const childrenOf = (prefix: Uint8Array) => {
    calls += 1;
    return readChildren(client, shard, prefix);
  };
  const isOver = () => found.length >= limit || calls >= MAX_CALLS;

  async function descend(prefix: Uint8Array): Promise<void> {
    if (prefix.length === ACCOUNT_BYTES) {
      found.push(prefix);
      return;
    }
    const theirs = new Map((await childrenOf(prefix)).map(({ nibble, root }) => [nibble, root]));
    for (let high = 0; high < 16 && !isOver(); high++) {
      const ours = ownHash(prefix, high << 4, (high << 4) | 15, 2 * prefix.length + 1);
      if (isSame(ours, theirs.get(high))) continue;
      for (let byte = high << 4; byte <= ((high << 4) | 15) && !isOver(); byte++) {
        const next = Buffer.concat([prefix, Uint8Array.of(byte)]);
        const below = nodeOf(await childrenOf(next));
        if (!isSame(ownHash(prefix, byte, byte, 2 * next.length), below)) await descend(next);
      }
    }
  }

  /** Returns the hash of the node above our accounts whose next byte is within a range; empty if there are none. */
  function ownHash(prefix: Uint8Array, from: number, to: number, depth: number): Uint8Array {
    const bound = (byte: number, fill: number) => {
      const account = new Uint8Array(ACCOUNT_BYTES).fill(fill);
      account.set(prefix);
      account[prefix.length] = byte;
      return account;
    };
    const accounts = accountRootsBetween(db, shard, bound(from, 0), bound(to, 255));
    return rootAbove(accounts, { top: depth, bottom: ACCOUNT_DEPTH });
  }

  await descend(new Uint8Array());
  return found;
}

function isSame(ours: Uint8Array, theirs: Uint8Array | undefined): boolean {
  return Buffer.compare(ours, theirs ?? new Uint8Array()) === 0;
}
