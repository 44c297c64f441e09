import type { IndexDatabase } from "../../db/index/database.ts";
import { getPosition } from "../../db/index/positions.ts";
import { chainHeadOf } from "../../db/index/upstream-work.ts";
import {
  accountOnPath,
  isChained,
  levelsOfPath,
  type PathChild,
  type ProvenAccount,
  TOP,
} from "../../trust/account-path.ts";
import { isEqual } from "../../trust/certificate.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { readChildren } from "../calls/trie-nodes.ts";
import { type Timings, wait } from "../timings.ts";

/** The node serves its current trie, so the calls have to fall between two blocks. */
const TRIES = 10;
/** How long to wait for a block, in polls. */
const MAX_POLLS = 5;
const LOOKS_PER_POLL = 10;
const CALLS_AT_ONCE = 8;

export interface ProvenAccountDeps {
  readonly client: Pick<UpstreamClient, "trieChildren">;
  readonly db: IndexDatabase;
  readonly timings: Pick<Timings, "pollMs">;
  readonly signal: AbortSignal;
}

/**
 * Returns what the signed root of a shard's newest applied block binds of an account, using the trie nodes that lead to it.
 * Undefined if another node's trie does not lead to such a root.
 *
 * The first try makes 81 calls, for which a second is too short at the rate limit of a public node. What a block changes is
 * mostly near the top, so a later try starts with a block, and reads only the levels that lack the hash named by the node
 * above: usually 17 calls.
 */
export async function readProvenAccount(
  deps: ProvenAccountDeps,
  shard: number,
  account: Uint8Array,
): Promise<ProvenAccount | undefined> {
  const { client, db, signal } = deps;
  const levels = levelsOfPath(account);
  const nodes = new Map<string, readonly PathChild[]>();
  const read = async (prefixes: Uint8Array[]) => {
    const work = async () => {
      for (let next = prefixes.pop(); next; next = prefixes.pop())
        nodes.set(next.toHex(), await readChildren(client, shard, next));
    };
    await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  };
  for (let tries = 0; tries < TRIES && !signal.aborted; tries++) {
    const before = signedRoot(db, shard);
    if (tries === 0) await read([TOP, ...levels.flat()]);
    else {
      await read([TOP]);
      for (const [depth, level] of levels.entries())
        if (!isChained(account, nodes, depth)) await read([...level]);
    }
    const proven = accountOnPath(account, nodes);
    const isSigned = (root: Uint8Array | undefined) => root && proven && isEqual(root, proven.shardRoot);
    if (isSigned(before) || isSigned(signedRoot(db, shard))) return proven;
    // The node may be a block ahead.
    await nextBlock(deps, shard, before);
    if (isSigned(signedRoot(db, shard))) return proven;
  }
  return undefined;
}

/** Waits for a block with another root, but not for long, because the state may not change. */
async function nextBlock(
  { db, timings: { pollMs }, signal }: ProvenAccountDeps,
  shard: number,
  before: Uint8Array | undefined,
): Promise<void> {
  for (let looks = 0; looks < MAX_POLLS * LOOKS_PER_POLL && !signal.aborted; looks++) {
    await wait(pollMs / LOOKS_PER_POLL, signal);
    const now = signedRoot(db, shard);
    if (now && !(before && isEqual(now, before))) return;
  }
}

/** Returns the signed root of a shard's newest applied block; undefined while a newer one waits to be applied. */
function signedRoot(db: IndexDatabase, shard: number): Uint8Array | undefined {
  const head = chainHeadOf(db, shard);
  const applied = getPosition(db, `upstream ${shard} applied`);
  return head && head.height === applied && head.certified === applied ? head.root : undefined;
}
