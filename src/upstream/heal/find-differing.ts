import type { IndexDatabase } from "../../db/index/database.ts";
import { accountRootsBetween } from "../../db/index/trie/account-roots.ts";
import { nodeOf } from "../../trust/account-path.ts";
import { rootAbove } from "../../trust/trie/trie.ts";
import { ACCOUNT_BYTES } from "../../trust/trie-key.ts";
import type { UpstreamClient } from "../calls/client.ts";
import { readChildren } from "../calls/trie-nodes.ts";

/** An upstream that says that everything differs, and below it nothing, is not asked for ever. */
const MAX_CALLS = 4000;
const ACCOUNT_DEPTH = 2 * ACCOUNT_BYTES;

/**
 * Returns accounts of a shard that have another root in another node's trie of now, at most `limit`: it descends where the hashes differ.
 * Those that a block changed meanwhile are among them.
 */
export async function findDiffering(
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

  /** Returns the hash of the node above our accounts whose next byte is between two; empty without any. */
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
