import { describe, expect, test } from "bun:test";
import type { HubResult } from "@farcaster/hub-nodejs";
import { Client, credentials, type Metadata, type ServiceError } from "@grpc/grpc-js";
import { indexPath } from "../../../src/db/index/database.ts";
import { ok } from "../../../src/lib/result.ts";
import { decodeMessage, type SignedMessage } from "../../../src/protocol/message/signed-message.ts";
import { createListRunner } from "../../../src/read/hub/turns.ts";
import { mergeAdmitted, startTestHub, type TestHub } from "../../support/hub.ts";
import { IS_LONG } from "../../support/long.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner, startTestNode } from "../../support/node.ts";
import { bio, cast } from "../../support/records.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";

const CASTS = IS_LONG ? 10_001 : 3600;

function decoded(bytes: Uint8Array): SignedMessage {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(message.error.reason);
  return message.value;
}

async function errorOf(result: Promise<HubResult<unknown>>): Promise<string> {
  return (await result).match(
    () => "no error",
    ({ errCode, message }) => `${errCode}: ${message}`,
  );
}

/** Calls a method without a request. Returns its initial metadata and its error, if it has one. */
function call(hub: TestHub, path: string, request = Buffer.alloc(0)) {
  const client = new Client(hub.address, credentials.createInsecure());
  const asBuffer = (bytes: Buffer) => bytes;
  const { promise, resolve } = Promise.withResolvers<{
    metadata: Metadata | undefined;
    error: ServiceError | null;
  }>();
  let metadata: Metadata | undefined;
  const ended = client.makeUnaryRequest(path, asBuffer, asBuffer, request, (error) => {
    client.close();
    resolve({ metadata, error });
  });
  ended.on("metadata", (initial) => {
    metadata = initial;
  });
  return promise;
}

test("each page arrives at a client with the default limit of 4 MiB, and all casts arrive", async () => {
  using index = temporaryIndex();
  const casts = Array.from({ length: CASTS }, (_, n) =>
    decoded(
      signedCast(1, `${n} `.padEnd(1000, "x"), accountSigner(1), {
        timestamp: DEFAULT_TIMESTAMP + Math.floor(n / 3),
      }),
    ),
  );
  mergeAdmitted(index.db, casts);
  await using hub = await startTestHub(index.path);
  const seen = new Set<string>();
  let pages = 0;
  let pageToken: Uint8Array | undefined;
  do {
    const page = (
      await hub.client.getCastsByFid({ fid: 1, ...(pageToken ? { pageToken } : {}) })
    )._unsafeUnwrap();
    for (const { hash } of page.messages) seen.add(Buffer.from(hash).toString("hex"));
    pageToken = page.nextPageToken;
    pages += 1;
  } while (pageToken !== undefined);
  expect(seen.size).toBe(CASTS);
  expect(pages).toBe(Math.ceil((CASTS * 2200) / (3.5 * 1024 * 1024)));
});

describe("lists", () => {
  const list = (running: Promise<unknown>) => async () => ok(await running);

  test("run a bounded number at a time, queue a bounded number, and refuse more", async () => {
    const runner = createListRunner(
      { running: 2, waiting: 1, perClient: { running: 2, waiting: 1 } },
      30_000,
    );
    const gate = Promise.withResolvers<number>();
    const first = [1, 2, 3].map(() => runner.run(list(gate.promise)));
    expect(await runner.run(list(gate.promise))).toMatchObject({
      ok: false,
      error: { code: "rate_limited" },
    });
    gate.resolve(7);
    expect(await Promise.all(first)).toEqual([ok(7), ok(7), ok(7)]);
    expect(await runner.run(list(gate.promise))).toEqual(ok(7));
  });

  test("end at their deadline and when their client has disconnected", async () => {
    const endless = (runner: ReturnType<typeof createListRunner>, signal = new AbortController().signal) =>
      runner.run<never>(
        async (turns) => {
          for (;;) await turns.next();
        },
        { clientKey: "a", signal },
      );
    expect(await endless(createListRunner(undefined, 20))).toMatchObject({
      ok: false,
      error: { code: "unavailable" },
    });
    const gone = new AbortController();
    const running = endless(createListRunner(), gone.signal);
    gone.abort();
    expect(await running).toMatchObject({ ok: false });
  });
});

describe("a node that follows", () => {
  test("refuses every read but GetInfo until its index has been filled, and then serves them", async () => {
    using node = startTestNode();
    node.ingestAll(accountRecords(1));
    let filled = false;
    await using hub = await startTestHub(indexPath(node.dir), { reads: { isFilled: () => filled } });
    const { client } = hub;
    const refusal = "unavailable: the index is being filled";
    const reads = [
      () => client.getCastsByFid({ fid: 1 }),
      () => client.getCastsByFid({ fid: 0 }),
      () => client.getCast({ fid: 1, hash: Buffer.alloc(20) }),
      () => client.getFids({ shardId: 1 }),
      () => client.getUsernameProof({ name: Buffer.from("user1") }),
      () => client.getUserNameProofsByFid({ fid: 0 }),
      () => client.getIdRegistryOnChainEventByAddress({ address: Buffer.alloc(20) }),
      () => client.getCurrentStorageLimitsByFid({ fid: 1 }),
      () => client.getSignersByFid({ fid: 1, requesterFids: [] }),
      () => client.getLinksByTarget({ targetFid: 1, linkType: "follow" }),
    ];
    for (const read of reads) expect(await errorOf(read())).toBe(refusal);
    expect((await client.getInfo({})).isOk()).toBe(true);
    filled = true;
    for (const read of reads) expect(await errorOf(read())).not.toBe(refusal);
  });

  test("refuses reads of fids that it does not follow, and marks lists over all fids as partial", async () => {
    using node = startTestNode();
    for (const fid of [1, 2, 3]) node.ingestAll(accountRecords(fid));
    node.merge([cast(1, "followed"), bio(2, "mentioned")]);
    node.db.sqlite.exec("INSERT INTO upstream_mentioned (fid) VALUES (2)");
    await using hub = await startTestHub(indexPath(node.dir), { reads: { followed: new Set([1]) } });
    const { client } = hub;
    const refusal = (fid: number) => `bad_request: fid ${fid} is not followed by this node`;
    expect((await client.getCastsByFid({ fid: 1 }))._unsafeUnwrap().messages.length).toBe(1);
    expect(await errorOf(client.getCastsByFid({ fid: 2 }))).toBe(refusal(2));
    expect((await client.getUserDataByFid({ fid: 2 }))._unsafeUnwrap().messages.length).toBe(1);
    expect((await client.getOnChainEvents({ fid: 2, eventType: 1 })).isOk()).toBe(true);
    expect(await errorOf(client.getOnChainEvents({ fid: 2, eventType: 4 }))).toBe(refusal(2));
    expect(await errorOf(client.getUserDataByFid({ fid: 3 }))).toBe(refusal(3));
    expect(await errorOf(client.getCurrentStorageLimitsByFid({ fid: 3 }))).toBe(refusal(3));
    const { error } = await call(hub, "/HubService/GetCastsByFid", Buffer.of(8, 3));
    expect(error?.code).toBe(9);
    const fids = await call(hub, "/HubService/GetFids");
    expect(fids.metadata?.get("x-partial")).toEqual(["fids"]);
    const own = await call(hub, "/HubService/GetUserDataByFid", Buffer.of(8, 1));
    expect(own.metadata?.get("x-partial")).toEqual([]);
  });
});

test.each([
  ["GetTrieMetadataByPrefix", "this node serves no snapshots"],
  ["GetBlocks", "this node has no blocks"],
  ["GetShardChunks", "this node has no blocks"],
  ["GetMeshView", "this node takes no part in gossip"],
  ["GetFidByName", "The server does not implement"],
])("%s is UNIMPLEMENTED: %s", async (method, reason) => {
  using index = temporaryIndex();
  await using hub = await startTestHub(index.path);
  const { error } = await call(hub, `/HubService/${method}`);
  expect(error?.code).toBe(12);
  expect(error?.details).toStartWith(reason);
});

test("a node whose reads are off serves none of them", async () => {
  using index = temporaryIndex();
  await using hub = await startTestHub(index.path, { deps: { reads: undefined } });
  const { error } = await call(hub, "/HubService/GetCastsByFid");
  expect(error?.code).toBe(12);
  expect((await call(hub, "/HubService/GetInfo")).error).toBeNull();
});

test("bytes that are not a request are refused as such", async () => {
  using index = temporaryIndex();
  await using hub = await startTestHub(index.path);
  for (const bytes of [Buffer.of(0xff, 0xff), Buffer.of(0x0a, 0x7f), Buffer.alloc(64, 0xff)]) {
    const { error } = await call(hub, "/HubService/GetCastsByFid", bytes);
    expect(error?.code).toBe(3);
    expect(error?.metadata.get("x-err-code")).toEqual(["bad_request.invalid_param"]);
  }
});
