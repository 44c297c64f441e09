import { expect, test } from "bun:test";
import { putPosition } from "../../src/db/index/positions.ts";
import { putChainHead } from "../../src/db/index/upstream-work.ts";
import { messageHash } from "../../src/protocol/message/message-hash.ts";
import type { SnapshotEntry } from "../../src/protocol/wire/generated/snapshot.ts";
import { accountPrefix, messageKey, virtualShardOf } from "../../src/trust/trie-key.ts";
import { readProvenAccount } from "../../src/upstream/heal/proven-account.ts";
import { temporaryIndex } from "../support/temporary-index.ts";
import { SnapshotTree } from "../support/upstream/snapshot-tree.ts";

const SHARD = 1;
const FIDS = 2000;
/** A public node has a block a second and gives 20 calls in that time. */
const CALLS_PER_BLOCK = 20;
const FID = 77;
const timings = { pollMs: 1 };

/** Accounts with a message each; the ones that each block changes get another. */
class ChangingTree {
  readonly #changes = new Map<number, number>();
  #height = 0;
  #tree = new SnapshotTree([]);
  /** The fids that a block changes. */
  changed: (height: number) => readonly number[] = (height) => [1 + ((height * 31) % FIDS)];

  readonly #fids: number;

  constructor(fids = FIDS) {
    this.#fids = fids;
    this.next();
  }

  next(): void {
    this.#height += 1;
    for (const fid of this.changed(this.#height)) this.#changes.set(fid, this.#height);
    const entries = Array.from({ length: this.#fids }, (_, at) => {
      const content = Buffer.from(`${at + 1} ${this.#changes.get(at + 1)}`);
      return { key: messageKey(at + 1, 1, messageHash(content)) } as SnapshotEntry;
    });
    this.#tree = new SnapshotTree(entries);
  }

  get height(): number {
    return this.#height;
  }

  get tree(): SnapshotTree {
    return this.#tree;
  }
}

/** An index that has each block of the tree at once, and a node whose block follows after some calls. */
function scene(trie: ChangingTree, callsPerBlock: number) {
  const index = temporaryIndex();
  const { db } = index;
  let calls = 0;
  const apply = () => {
    const { height, tree } = trie;
    const hash = new Uint8Array(32);
    putChainHead(db, { shard: SHARD, height, hash, timestamp: height, root: tree.root, certified: height });
    putPosition(db, `upstream ${SHARD} applied`, height);
  };
  apply();
  return {
    deps: {
      db,
      timings,
      signal: new AbortController().signal,
      client: {
        trieChildren: async (_shard: number, prefix: Uint8Array) => {
          if (calls++ % callsPerBlock === callsPerBlock - 1) {
            trie.next();
            apply();
          }
          return trie.tree.node(prefix).children;
        },
      },
    },
    calls: () => calls,
    [Symbol.dispose]: () => index[Symbol.dispose](),
  };
}

test("an account is proven by a node that makes a block after every 20 calls, which are fewer than its path has nodes", async () => {
  const trie = new ChangingTree();
  using one = scene(trie, CALLS_PER_BLOCK);
  const proven = await readProvenAccount(one.deps, SHARD, accountPrefix(FID));
  expect(proven?.shardRoot.toHex()).toBe(trie.tree.root.toHex());
  expect(proven?.root.toHex()).toBe(trie.tree.accountRoot(FID)?.toHex() ?? "");
  expect(one.calls()).toBeLessThan(2 * 81);
});

test("blocks that change accounts beside it, deeper in the trie, only cost more calls", async () => {
  const trie = new ChangingTree();
  const beside = Array.from({ length: FIDS }, (_, at) => at + 1).filter(
    (fid) => fid !== FID && virtualShardOf(fid) === virtualShardOf(FID),
  );
  expect(beside.length).toBeGreaterThan(3);
  trie.changed = (height) => (height % 3 === 0 ? [beside[height % beside.length] as number] : [1 + height]);
  using one = scene(trie, 40);
  const proven = await readProvenAccount(one.deps, SHARD, accountPrefix(FID));
  expect(proven?.root.toHex()).toBe(trie.tree.accountRoot(FID)?.toHex() ?? "");
});

test("an account that a node changes with each call is not proven, and the calls end", async () => {
  const trie = new ChangingTree(100);
  trie.changed = () => [FID];
  using one = scene(trie, 1);
  expect(await readProvenAccount(one.deps, SHARD, accountPrefix(FID))).toBeUndefined();
  expect(one.calls()).toBeLessThanOrEqual(10 * 81);
});
