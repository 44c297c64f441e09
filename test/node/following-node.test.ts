import { afterAll, beforeAll, expect, test } from "bun:test";
import { encodeFunctionData, parseAbi } from "viem";
import { run } from "../cli/run.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { addressOf, custody, DOMAIN, newNonce, post, signInMessage, signText } from "../support/sign-in.ts";
import { MASTER_KEY } from "../support/signers.ts";
import { signedHeaders } from "../support/signing.ts";
import { type Chain, makeDevnetChain } from "../support/upstream/chain.ts";
import type { Faults } from "../support/upstream/faults.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { Watch } from "../support/upstream/watch.ts";

/** How a node that follows reports its progress to its operator and its clients. The tests depend on their order. */

/** Blocks of long ago, in which the first fids join. */
const HISTORY = 7;
const FIDS = 7;
const FID = 3;
const BEHIND = /^shard \d is \d+h \d+m behind; ready is less than 600s$/;
const DEVNET = ["--set", "protocol.network=devnet"];

const dir = tempDir();
const watch = new Watch();
/** While it is set, no fid can be read completely. */
let isHolding = true;
const faults: Faults = {
  onCall(method) {
    watch.onCall(method);
    return isHolding && method === "GetUserNameProofsByFid" ? "hold" : undefined;
  },
  onDelivery: () => undefined,
};
let chain: Chain;
let upstream: UpstreamNode;
let server: UpstreamServer;
let node: RunningNode;

beforeAll(async () => {
  chain = makeDevnetChain("a node that follows", HISTORY + 1);
  upstream = new UpstreamNode(chain);
  upstream.produce(HISTORY);
  server = new UpstreamServer(upstream, { faults });
  await server.start();
  node = await startNode({
    command: compiledProgram,
    dataDir: dir.path,
    args: [
      ...DEVNET,
      ...["--set", `upstream.url=${server.url}`, "--set", "http.workers=2"],
      // A current block stays current on a busy machine.
      ...["--set", "upstream.ready_lag_secs=600"],
      ...["--set", `signers.encryption_key=${MASTER_KEY}`],
    ],
  });
}, 180_000);

afterAll(async () => {
  await node.stop();
  server.stop();
  dir[Symbol.dispose]();
});

const request = (path: string, init?: RequestInit) => fetch(`${node.url}${path}`, init);

/** The upstream section of `/status`. */
// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
async function statusOf(): Promise<any> {
  const status = (await (await request("/status")).json()) as { upstream: unknown };
  return status.upstream;
}

async function ready(): Promise<{ status: number; message: string | undefined }> {
  const response = await request("/ready");
  const { message } = (await response.json()) as { message?: string };
  return { status: response.status, message };
}

async function signedRead(): Promise<number> {
  const call = { method: "GET", path: "/frame/app/list", fid: FID } as const;
  const headers = await signedHeaders({ ...call, signedAt: Math.floor(Date.now() / 1000), body: "" });
  return (await request(`/v2/svc${call.path}`, { headers })).status;
}

/** What the ways of sign-in say: Quick Auth, a channel, the RPC of the registries, the verification of tokens. */
async function signInWays() {
  const message = signInMessage(await newNonce(node));
  const quickAuth = await post(node, "/quick-auth/verify-siwf", {
    message,
    signature: signText(message),
    domain: DOMAIN,
  });
  const siweUri = `https://${DOMAIN}/login`;
  const { body: channel } = await post(node, "/v1/channel", { siweUri, domain: DOMAIN });
  const forChannel = signInMessage(String(channel.nonce), { uri: siweUri });
  const completed = await request("/v1/channel/authenticate", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${channel.channelToken}` },
    body: JSON.stringify({ message: forChannel, signature: signText(forChannel) }),
  });
  const idOf = encodeFunctionData({
    abi: parseAbi(["function idOf(address) view returns (uint256)"]),
    args: [addressOf(custody)],
  });
  const call = { to: "0x00000000fc6c5f01fc30151999387bb99a9f489b", data: idOf };
  const rpc = await post(node, "/rpc/10", { jsonrpc: "2.0", id: 1, method: "eth_call", params: [call] });
  const query = new URLSearchParams({ token: String(quickAuth.body.token ?? "a.b.c"), domain: DOMAIN });
  return {
    quickAuth: quickAuth.status,
    retryAfter: quickAuth.headers.get("retry-after"),
    channel: completed.status,
    rpc: rpc.body.result ?? (rpc.body.error as { code: number }).code,
    tokens: (await request(`/quick-auth/verify-jwt?${query}`)).status,
  };
}

/** Checks the condition after each call that the node makes, until it holds. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    const { calls } = watch;
    await watch.until(node.exited, () => watch.calls > calls);
  }
}

test("during the backfill /ready reports progress, signed operations wait, and reads are served", async () => {
  await eventually(async () => (await statusOf()).phase === "backfill");
  const { status, message } = await ready();
  expect(status).toBe(503);
  expect(message).toMatch(/^filling the index from the upstream: 0 of \d+ fids \(0%\)/);
  expect(await signedRead()).toBe(503);
  expect((await request("/health")).status).toBe(200);
  expect((await request(`/v2/svc/user/bulk?fids=${FID}`)).status).toBe(200);
}, 180_000);

test("a filled index is behind while the last block is old", async () => {
  isHolding = false;
  server.release();
  await eventually(async () => (await statusOf()).phase === "live");
  upstream.produce(HISTORY + 1);
  await eventually(async () => (await ready()).message?.endsWith("ready is less than 600s") ?? false);
  const { status, message } = await ready();
  expect(status).toBe(503);
  expect(message).toMatch(BEHIND);
  expect(await signedRead()).toBe(503);
  // Check 16: what rests on the index waits; tokens are verified, and this one is malformed.
  expect(await signInWays()).toEqual({
    quickAuth: 503,
    retryAfter: "5",
    channel: 503,
    rpc: -32005,
    tokens: 400,
  });
  const upstreamStatus = await statusOf();
  // Its minutes, and the shard that is furthest behind, may have changed since.
  expect(upstreamStatus.behind).toMatch(BEHIND);
  expect(upstreamStatus).toMatchObject({ fids_done: FIDS, fids_total: FIDS });
  expect(upstreamStatus.shards.map(({ shard }: { shard: number }) => shard)).toEqual([0, 1, 2]);
}, 180_000);

test("is ready when every shard has a current block, and signed operations succeed", async () => {
  chain.add({ at: Math.floor(Date.now() / 1000), actions: [] });
  upstream.produce(HISTORY + 2);
  await eventually(async () => (await ready()).status === 200);
  expect(await signedRead()).toBe(200);
  expect(await signInWays()).toEqual({
    quickAuth: 200,
    retryAfter: null,
    channel: 201,
    rpc: `0x${FID.toString(16).padStart(64, "0")}`,
    tokens: 200,
  });
  expect((await statusOf()).behind).toBeNull();
  const metrics = await (await request("/metrics")).text();
  expect(metrics).toContain('svc_upstream_phase{phase="live"} 1');
  expect(metrics).toMatch(/^svc_upstream_lag_seconds\{shard="2"\} \d+$/m);
  expect(node.logs()).toContain("Caught up with the upstream");
}, 180_000);

test("verify finds no difference while the node runs", async () => {
  const ended = await run([
    "verify",
    ...DEVNET,
    "--data-dir",
    dir.path,
    "--set",
    `upstream.url=${server.url}`,
    "--json",
  ]);
  const { compared, differences, shards } = JSON.parse(ended.out);
  expect({ compared, differences }).toEqual({ compared: FIDS, differences: [] });
  for (const { appliedBlock, headBlock } of shards) expect(appliedBlock).toBe(headBlock);
  expect(ended.exitCode).toBe(0);
}, 180_000);
