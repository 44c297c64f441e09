import { describe, expect, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import type { SnapshotPage } from "../../src/protocol/wire/generated/snapshot.ts";
import { AccountTrie } from "../../src/trust/trie/trie.ts";
import { onChainKey, virtualShardOf } from "../../src/trust/trie-key.ts";
import { type PartDeps, readPart } from "../../src/upstream/fill/replication/read-part.ts";
import { DEFAULT_TIMINGS } from "../../src/upstream/timings.ts";
import { rentEvent } from "../support/events.ts";
import { type Chain, makeChain } from "../support/upstream/chain.ts";
import { FollowedIndex } from "../support/upstream/followed-index.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { HeldSnapshots } from "../support/upstream/snapshots.ts";

const chain = makeChain("replication", 90);

/** An index that is filled from the snapshots of a scripted node, and follows it. */
async function filling(of: Chain, { perPage = 7, history = 60 } = {}) {
  const node = new UpstreamNode(of);
  node.produce(history);
  const snapshots = new HeldSnapshots();
  snapshots.perPage = perPage;
  snapshots.take(node);
  const calls = new Map<string, number>();
  const callsOf = (method: string) => calls.get(method) ?? 0;
  let onPage: (page: number) => void = () => {};
  const faults = {
    onCall: (method: string) => {
      calls.set(method, callsOf(method) + 1);
      if (method === "GetShardTransactions") onPage(callsOf(method));
      return undefined;
    },
    onDelivery: () => undefined,
  };
  let index: FollowedIndex | undefined;
  const server = new UpstreamServer(node, { snapshots, faults, onCall: () => index?.wake() });
  await server.start();
  index = new FollowedIndex({ node, url: server.url, nowSecs: of.endsAt });
  const followed = index;
  return {
    node,
    snapshots,
    server,
    index,
    callsOf,
    /** Does something once, when a page is asked for. */
    atPage(number: number, act: () => void) {
      onPage = (page) => {
        if (page !== number) return;
        onPage = () => {};
        act();
      };
    },
    async caughtUp() {
      node.produce(of.ticks.length);
      await followed.caughtUp();
      return of.dumpOf(followed.db);
    },
    async [Symbol.asyncDispose]() {
      await followed.stop();
      server.stop();
      followed.db[Symbol.dispose]();
    },
  };
}

describe("an empty index that is filled from snapshots", () => {
  test("equals one that received everything in order, and reads no fid by itself", async () => {
    await using scene = await filling(chain);
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    expect(scene.callsOf("GetAllCastMessagesByFid")).toBe(0);
    // The pages with gasless keys cannot be read: their accounts are, without the keys.
    expect(scene.callsOf("GetTrieMetadataByPrefix")).toBeGreaterThan(0);
  });

  test("continues with the newest snapshot once the first one has expired", async () => {
    await using scene = await filling(chain);
    scene.atPage(200, () => {
      scene.snapshots.drop();
      scene.node.produce(75);
      scene.snapshots.take(scene.node);
    });
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    expect(scene.callsOf("GetShardSnapshotMetadata")).toBeGreaterThan(2);
    expect(scene.callsOf("GetAllCastMessagesByFid")).toBe(0);
  });

  test("continues after a restart of the node, which dropped its snapshots", async () => {
    await using scene = await filling(chain);
    scene.atPage(300, () => {
      scene.server.stop();
      scene.snapshots.drop();
      scene.node.produce(70);
      scene.snapshots.take(scene.node);
      void scene.server.start();
    });
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    expect(scene.callsOf("GetAllCastMessagesByFid")).toBe(0);
  });

  test("continues at its place after each restart of the process", async () => {
    await using scene = await filling(chain);
    for (const pages of [3, 120, 300, 480]) {
      scene.index.start();
      await scene.index.until(() => scene.callsOf("GetShardTransactions") >= pages);
      await scene.index.stop();
    }
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    // Each part once, and at each stop the pages that were under way. Without the stored places these were over 1,400.
    expect(scene.callsOf("GetShardTransactions")).toBeLessThan(1_000);
  });

  test("reads an account by itself where the node's hashes of its trie are not hashes", async () => {
    await using scene = await filling(chain);
    scene.snapshots.nodeHash = () => "not a hash";
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    expect(scene.callsOf("GetAllCastMessagesByFid")).toBeGreaterThan(0);
  });

  test("leaves the rest of a part where the node names one account as the fault of every page", async () => {
    let pages = 0;
    const todo: number[] = [];
    const part = { shard: 1, virtualShard: 7, height: 9, fid: 0, token: null, isDone: false };
    const unused = () => {
      throw new Error("nothing was read");
    };
    const reached = await readPart(
      {
        client: {
          async snapshotPage() {
            pages += 1;
            if (pages > 100) throw new RangeError("it never ends");
            throw Object.assign(new Error("Invalid message type for FID 5: KeyAdd"), {
              code: status.INTERNAL,
            });
          },
          snapshots: async () => [],
          trieChildren: async () => [],
        },
        listed: { of: async () => [3, 5, 8] },
        readKeys: unused,
        verifier: { verifySnapshot: unused },
        rules: { shards: 2 } as PartDeps["rules"],
        timings: DEFAULT_TIMINGS,
        signal: AbortSignal.timeout(20_000),
        onFault: unused,
        mayHave: () => true,
        write: async (portion: Parameters<PartDeps["write"]>[0]) => void todo.push(...(portion.todo ?? [])),
      } as unknown as PartDeps,
      part,
    );
    expect(reached.isDone).toBe(true);
    expect([...new Set(todo)].sort()).toEqual([3, 5, 8]);
  });

  test("uses no snapshot of the day before yesterday", async () => {
    await using scene = await filling(chain);
    scene.snapshots.age(27 * 3600);
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    expect(scene.callsOf("GetShardTransactions")).toBe(0);
  });

  test("reads the other fids one by one if no snapshot becomes available again", async () => {
    await using scene = await filling(chain);
    scene.atPage(250, () => scene.snapshots.drop());
    scene.index.start();
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
    expect(scene.callsOf("GetAllCastMessagesByFid")).toBeGreaterThan(0);
  });
});

describe("pages that are not of the network's state are refused, and true ones are read", () => {
  const full = ({ entries }: SnapshotPage) => entries.length > 1;
  const lies: [string, (page: SnapshotPage) => SnapshotPage, RegExp][] = [
    ["out of order", (page) => ({ ...page, entries: page.entries.toReversed() }), /\(order\)/],
    ["without one record", (page) => ({ ...page, entries: page.entries.slice(1) }), /\(account_root\)/],
    [
      "empty with a token that never ends",
      () => ({ entries: [], accounts: [], nextPageToken: "[null]" }),
      /\(no_progress\)/,
    ],
    [
      "with a message under the key of another",
      (page) => {
        const [first, second] = page.entries.filter(({ message }) => message);
        if (!first || !second) return page;
        const entries = page.entries.map((one) =>
          one === first ? { ...one, message: second.message } : one,
        );
        return { ...page, entries };
      },
      /\((key_mismatch|bad_message)\)/,
    ],
  ];
  for (const [what, change, expected] of lies)
    test(what, async () => {
      await using scene = await filling(chain);
      scene.snapshots.change = (page) => (full(page) ? change(page) : page);
      scene.index.start();
      await scene.index.until(() => scene.index.peerErrors.length > 0);
      expect(scene.index.peerErrors[0]).toMatch(expected);
    });

  test("which fill the index once the node sends them", async () => {
    await using scene = await filling(chain);
    scene.snapshots.change = (page) => (full(page) ? { ...page, entries: page.entries.slice(1) } : page);
    scene.index.start();
    await scene.index.until(() => scene.index.peerErrors.length > 0);
    scene.snapshots.change = (page) => page;
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
  });
});

describe("a node that invents records without end", () => {
  const PER_PAGE = 100;

  /** Events of an fid whose keys ascend, and the account that a page says they are. */
  function invented(fid: number, from: number) {
    const trie = new AccountTrie();
    const rent = rentEvent(fid, 1, { block: 1000 + fid });
    const transactionHash = Buffer.alloc(32);
    const entries = Array.from({ length: PER_PAGE }, (_, n) => {
      transactionHash.writeUInt32BE(from + n);
      const onChainEvent = OnChainEvent.encode({ ...rent, transactionHash }).finish();
      const key = onChainKey(onChainEvent) ?? new Uint8Array();
      trie.add(key);
      return { key, message: undefined, onChainEvent, fnameTransfer: undefined };
    });
    return { entries, account: { fid, ...(trie.root() ?? { root: new Uint8Array(), keys: 0 }) } };
  }

  function* fidsOf(virtualShard: number): Generator<number> {
    for (let fid = 1; ; fid++) if (virtualShardOf(fid) === virtualShard) yield fid;
  }

  test("for one account ends at the number of its keys that the first page says", async () => {
    await using scene = await filling(chain);
    let most = 0;
    scene.snapshots.invent = ({ virtualShard, pageToken }) => {
      const [fid] = fidsOf(virtualShard).take(1);
      const from = Number(pageToken ?? 0);
      const { entries, account } = invented(fid as number, from);
      most = Math.max(most, from);
      return { entries, accounts: [account], nextPageToken: `${from + PER_PAGE}` };
    };
    scene.index.start();
    await scene.index.until(() => scene.index.peerErrors.length > 0);
    expect(scene.index.peerErrors[0]).toMatch(/\(account_root\)/);
    expect(most).toBe(PER_PAGE);
    expect(onChainEventCount(scene.index.db)).toBe(0);
  });

  test("for more and more accounts ends at the number of keys that the snapshot was said to have", async () => {
    await using scene = await filling(chain);
    scene.snapshots.invent = ({ virtualShard, pageToken }) => {
      const page = Number(pageToken ?? 0);
      const [fid] = fidsOf(virtualShard).drop(page).take(1);
      const { entries, account } = invented(fid as number, 0);
      return { entries, accounts: [account], nextPageToken: `${page + 1}` };
    };
    scene.index.start();
    await scene.index.until(() => scene.index.peerErrors.length > 0);
    expect(scene.index.peerErrors[0]).toMatch(/\(too_many_keys\)/);
    // It has a few hundred, and each part that was read at the same time may have written a page more.
    expect(onChainEventCount(scene.index.db)).toBeLessThan(2 * (1000 + 8 * PER_PAGE) + 1000);
  });

  test("that announces more keys than there is room for is not read", async () => {
    await using scene = await filling(chain);
    scene.snapshots.announcedKeys = 1e12;
    scene.index.roomBytes = 1e12;
    scene.index.start();
    await scene.index.until(() => scene.index.peerErrors.length > 0);
    expect(scene.index.peerErrors[0]).toContain("no room (1000 GB)");
    expect(scene.callsOf("GetShardTransactions")).toBe(0);
    scene.index.roomBytes = 1e15;
    scene.snapshots.announcedKeys = undefined;
    expect(await scene.caughtUp()).toBe(chain.referenceDump);
  });
});

function onChainEventCount(db: IndexDatabase): number {
  const [row] = db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM on_chain_events").all();
  return row?.n ?? 0;
}
