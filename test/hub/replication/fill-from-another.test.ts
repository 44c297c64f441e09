import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { openIndexReader, openIndexWriter } from "../../../src/db/index/database.ts";
import { PinnedIndex } from "../../../src/hub/replication/pinned-index.ts";
import { encodePageToken } from "../../../src/trust/page-token.ts";
import { virtualShardOf } from "../../../src/trust/trie-key.ts";
import { createUpstreamClient, type UpstreamClient } from "../../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { indexContent } from "../../support/index-content.ts";
import { tempDir } from "../../support/program.ts";
import { followNetwork, serveNetwork } from "../../support/upstream/follow-recorded.ts";
import { type ReplicatingHub, startReplicatingHub } from "../../support/upstream/replicating-hub.ts";

const HEIGHT = 1950;
const dir = tempDir();
const path = join(dir.path, "index.db");
let hub: ReplicatingHub;
let client: UpstreamClient;
const connections = new DisposableStack();

beforeAll(async () => {
  {
    await using served = await serveNetwork("oneValidator");
    using db = openIndexWriter(path);
    await using followed = followNetwork("oneValidator", [served], { db, roots: "full" });
    await followed.caughtUp();
  }
  hub = await startReplicatingHub(path);
  client = clientOf(hub);
}, 120_000);
afterAll(async () => {
  connections.dispose();
  await hub[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

function clientOf({ url }: ReplicatingHub): UpstreamClient {
  const connection = connectUpstream(url);
  connections.defer(() => connection.close());
  return createUpstreamClient(connection, DEFAULT_TIMINGS, new AbortController().signal);
}

/** What snapshots do not have: names whose key has left the trie, and channels, which are read by other calls. */
const NOT_IN_SNAPSHOTS = /"name":"twice5000"|^{"type":6,|^{"name":"on_chain_events"/;

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "OK",
    ({ code }: { code: status }) => status[code],
  );

describe("a node that fills its index from another one of this program", () => {
  test("has the same rows, and reads only accounts with records that are not kept by their own calls", async () => {
    using db = openIndexWriter(join(dir.path, "second.db"));
    await using second = followNetwork("oneValidator", [hub], { db, retries: true });
    await second.caughtUp();
    using first = openIndexReader(path);
    const found = indexContent(second.db);
    for (const [table, rows] of indexContent(first)) {
      if (table === "positions") continue;
      const others = new Set(found.get(table));
      expect([table, rows.filter((row) => !others.has(row) && !NOT_IN_SNAPSHOTS.test(row))]).toEqual([
        table,
        [],
      ]);
      const own = new Set(rows);
      expect([table, [...others].filter((row) => !own.has(row) && !NOT_IN_SNAPSHOTS.test(row))]).toEqual([
        table,
        [],
      ]);
    }
    // A page for each of 256 parts of two shards; few accounts have records that are not kept, and are read around.
    expect(await hub.callsOf("GetShardTransactions")).toBeGreaterThan(500);
    expect(await hub.callsOf("GetTrieMetadataByPrefix")).toBeGreaterThanOrEqual(1);
    expect(await hub.callsOf("GetAllCastMessagesByFid")).toBeLessThan(5);
  }, 120_000);
});

describe("a node that serves its state", () => {
  test("names its newest proven block with the certificate of the network", async () => {
    const [snapshot] = await client.snapshots(1);
    expect(snapshot?.height).toBe(HEIGHT);
    const [chunk] = await client.signedChunks(1, HEIGHT, HEIGHT + 1);
    expect(snapshot?.chunk).toEqual(chunk as NonNullable<typeof chunk>);
    expect(await client.snapshots(3)).toEqual([]);
  });

  test("refuses other heights, parts and tokens, and serves the next call", async () => {
    const page = { shard: 1, height: HEIGHT, virtualShard: 0 };
    const deep = {
      path: Array.from({ length: 126 }, () => 0),
      levels: Array.from({ length: 127 }, () => [15]),
    };
    const calls = [
      { ...page, height: HEIGHT - 1 },
      { ...page, shard: 7 },
      { ...page, virtualShard: 256 },
      { ...page, pageToken: "no token" },
      { ...page, pageToken: encodePageToken({ path: [1], levels: [[0], [3, 2]] }) },
      { ...page, pageToken: encodePageToken({ path: [], levels: [[200]] }) },
      { ...page, pageToken: encodePageToken(deep) },
      { ...page, pageToken: Buffer.alloc(150_000, 1).toString("base64") },
      page,
    ];
    const codes: (string | undefined)[] = [];
    for (const call of calls) codes.push(await codeOf(client.snapshotPage(call)));
    const internal = "INTERNAL";
    const expected = [
      internal,
      internal,
      "INVALID_ARGUMENT",
      internal,
      internal,
      internal,
      "OK",
      internal,
      "OK",
    ];
    expect(codes).toEqual(expected);
    expect(await codeOf(client.trieChildren(1, new Uint8Array(4)))).toBe("INVALID_ARGUMENT");
  });

  test("a token that names a thousand small parts of one account is read in turns with other work", async () => {
    const account = [5006 >> 12, 5006 >> 8, 5006 >> 4, 5006].map((nibble) => nibble & 15);
    const virtualShard = virtualShardOf(5006);
    const path = [0, 0, 0, 0, ...account, 0, 8, ...Array.from({ length: 60 }, () => 0)];
    const all = Array.from({ length: 15 }, (_, at) => 15 - at);
    const levels = [...path, 0].map((_, depth) => (depth < 10 ? [] : all));
    const token = encodePageToken({ path, levels });
    let [turns, isOver] = [0, false];
    const read = hub.pinned
      .use(({ reader }) => reader.page(2, virtualShard, token))
      .finally(() => (isOver = true));
    for (; !isOver; turns++) await setImmediate();
    expect(await read).toMatchObject({ kind: "page" });
    expect(turns).toBeGreaterThan(50);
    const twice = encodePageToken({ path: [], levels: [[3, 3]] });
    expect(await hub.pinned.use(({ reader }) => reader.page(2, virtualShard, twice))).toEqual({
      kind: "bad_token",
    });
  });

  test("a client that asks for everything at once is refused beyond its share, while other calls are served", async () => {
    const page = { shard: 1, height: HEIGHT, virtualShard: 7 };
    const codes = Promise.all(Array.from({ length: 200 }, () => codeOf(client.snapshotPage(page))));
    expect((await client.info()).numShards).toBe(2);
    const all = await codes;
    expect(all.filter((code) => code === "RESOURCE_EXHAUSTED").length).toBeGreaterThan(100);
    expect(all.filter((code) => code === "OK").length).toBeGreaterThanOrEqual(16);
  });
});

describe("the state that a node serves", () => {
  /** A hub with a clock of its own, and what its log is said to hold. */
  async function pinning() {
    const time = { nowMs: 0, logBytes: 0 };
    const other = await startReplicatingHub(path, "oneValidator", {
      nowMs: () => time.nowMs,
      logBytes: () => time.logBytes,
      waitMs: async () => {},
    });
    const heights = async () => (await clientOf(other).snapshots(1)).map(({ height }) => height);
    return { other, time, heights };
  }

  test("is let go after half an hour, without calls, and with a long log, and made again after a pause", async () => {
    const { other, time, heights } = await pinning();
    await using _ = other;
    expect(await heights()).toEqual([HEIGHT]);
    for (let minute = 0; minute < 31; minute++) {
      time.nowMs += 60_000;
      if (minute < 30) expect(await heights()).toEqual([HEIGHT]);
    }
    expect(await heights()).toEqual([]);
    time.nowMs += 61_000;
    expect(await heights()).toEqual([HEIGHT]);
    time.logBytes = 2 * 1024 ** 3;
    expect(await heights()).toEqual([]);
    time.logBytes = 0;
    time.nowMs += 61_000;
    expect(await heights()).toEqual([HEIGHT]);
    time.nowMs += 121_000;
    other.pinned.letGo();
    expect(await heights()).toEqual([]);
  });

  test("is none where the node stops while it is being proven, and keeps no connection", async () => {
    using stack = new DisposableStack();
    const asked = Promise.withResolvers<void>();
    const blocks = Promise.withResolvers<undefined>();
    const db = openIndexReader(path);
    const other = new PinnedIndex({
      open: () => db,
      network: 3,
      chunkOf: async (shard, height) => {
        asked.resolve();
        await blocks.promise;
        return (await client.signedChunks(shard, height, height + 1))[0];
      },
      logBytes: () => 0,
      onFault: (cause) => {
        throw cause;
      },
      waitMs: async () => {},
    });
    stack.defer(() => other.close());
    const used = other.use(() => "used");
    await asked.promise;
    other.close();
    blocks.resolve(undefined);
    expect(await used).toBeUndefined();
    expect(() => db.sqlite.query("SELECT 1").get()).toThrow();
  });

  test("is none while the index cannot be opened, which is tried once a minute", async () => {
    const faults: unknown[] = [];
    let [opened, nowMs] = [0, 0];
    const other = new PinnedIndex({
      open: () => {
        opened += 1;
        throw new Error("unable to open database file");
      },
      network: 3,
      chunkOf: async () => undefined,
      logBytes: () => 0,
      onFault: (cause) => faults.push(cause),
      nowMs: () => nowMs,
    });
    for (let call = 0; call < 5; call++) expect(await other.use(() => "used")).toBeUndefined();
    expect([opened, faults.length]).toEqual([1, 1]);
    nowMs += 60_001;
    expect(await other.use(() => "used")).toBeUndefined();
    expect(opened).toBe(2);
    other.close();
  });

  test("is none while the index differs from the signed root", async () => {
    const copy = join(dir.path, "unproven.db");
    using writer = openIndexWriter(path);
    writer.sqlite.query("VACUUM INTO ?").run(copy);
    using changed = openIndexWriter(copy);
    changed.sqlite.exec("UPDATE trie_shards SET mismatch_height = 1900 WHERE shard = 2");
    await using other = await startReplicatingHub(copy, "oneValidator", { waitMs: async () => {} });
    expect(await clientOf(other).snapshots(1)).toEqual([]);
  });
});
