import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { IS_LONG } from "../support/long.ts";
import { makeWallet, signedCast } from "../support/messages.ts";
import { accountSigner, eventRecord } from "../support/node.ts";
import { type SharedServices, startSharedServices } from "../support/postgres/nodes.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";
import { type ReceivedRequest, startReceiver } from "../support/receiver.ts";
import { type Method, signedHeaders } from "../support/signing.ts";
import { makeChain } from "../support/upstream/chain.ts";
import type { Faults } from "../support/upstream/faults.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";

/**
 * Nodes that follow one upstream over one PostgreSQL: what a delivery promises, whichever of them ends. The long form runs the
 * compiled program, and waits until the lease of a killed node ends; otherwise that is at once.
 */

const HISTORY = 7;
const BLOCK_INTERVAL_MS = 250;
const FID = 100;
const SETTINGS = [
  "net.allow_http=true",
  "net.allow_cidrs=127.0.0.0/8",
  "webhooks.rate_limit=1000000",
  "http.workers=1",
];

const nowSecs = () => Math.floor(Date.now() / 1000);
const idOf = ({ headers }: ReceivedRequest) => headers.get("webhook-id") ?? "";
const textOf = ({ body }: ReceivedRequest): string => JSON.parse(body).data.text;

/** An upstream that produces blocks, empty ones and one for each cast. */
async function startUpstream() {
  let isHolding = false;
  const faults: Faults = {
    // A node that fills asks for the names of each fid.
    onCall: (method) => (isHolding && method === "GetUserNameProofsByFid" ? "hold" : undefined),
    onDelivery: () => undefined,
  };
  const chain = makeChain("nodes that deliver", HISTORY);
  const node = new UpstreamNode(chain);
  const server = new UpstreamServer(node, { faults });
  await server.start();
  const add = (...records: EncodedRecord[]) => {
    chain.add({ at: nowSecs(), actions: records.map((record) => ({ fid: FID, record })) });
    node.produce(chain.ticks.length);
  };
  const at = nowSecs() - 86_400;
  const events = [
    registerEvent(FID, makeWallet(`custody ${FID}`).address, { block: 900_000, at }),
    signerEvent(FID, accountSigner(FID).publicKey, { block: 900_001, at }),
    rentEvent(FID, 100, { block: 900_002, at }),
  ];
  add(...events.map(eventRecord));
  const blocks = setInterval(() => add(), BLOCK_INTERVAL_MS);
  return {
    url: server.url,
    cast(text: string) {
      const bytes = signedCast(FID, text, accountSigner(FID), { timestamp: toFarcasterSecs(nowSecs()) });
      add({ kind: "message", bytes });
    },
    /** From now on no node can fill its index. */
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      server.release();
    },
    stop() {
      clearInterval(blocks);
      server.stop();
    },
  };
}

async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20);
}

const isReady = async (node: RunningNode) => (await fetch(`${node.url}/ready`)).status === 200;

/** Sends a signed request to a node, again when the limit per fid allows it; rejects unless it succeeds. */
// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
async function signed(node: RunningNode, method: Method, path: string, body?: object): Promise<any> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = await signedHeaders({ method, path, fid: FID, signedAt: nowSecs(), body: text });
  const response = await fetch(`${node.url}/v2/svc${path}`, {
    method,
    headers: { ...headers, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: text } : {}),
  });
  const result = await response.json();
  if (response.status === 429) {
    // A slow node is polled for long.
    await Bun.sleep(1000 * Number(response.headers.get("retry-after")));
    return await signed(node, method, path, body);
  }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(result)}`);
  return result;
}

describe.skipIf(!HAS_POSTGRES)("deliveries of several nodes", () => {
  let upstream: Awaited<ReturnType<typeof startUpstream>>;
  let shared: SharedServices;
  const start = (nodeId: string, ...settings: readonly string[]) =>
    shared.startNode(nodeId, [...SETTINGS, ...settings]);

  async function startReady(nodeId: string, ...settings: readonly string[]): Promise<RunningNode> {
    const node = await start(nodeId, ...settings);
    await eventually(() => isReady(node));
    return node;
  }

  /** Creates a webhook for the casts of the fid through a node. Returns its id. */
  async function addWebhook(node: RunningNode, port: number, path = "/"): Promise<string> {
    const { webhook } = await signed(node, "POST", `/webhook?owner_fid=${FID}`, {
      name: path,
      url: `http://127.0.0.1:${port}${path}`,
      subscription: { "cast.created": { author_fids: [FID] } },
    });
    return webhook.webhook_id;
  }

  async function kill(node: RunningNode, nodeId: string): Promise<void> {
    await node.kill();
    if (!IS_LONG) await shared.database.query(`UPDATE nodes SET ends_at_ms = 0 WHERE node_id = '${nodeId}'`);
  }

  const isSettled = async () =>
    (await shared.database.query("SELECT 1 FROM deliveries WHERE state = 'queued' LIMIT 1")).length === 0;

  const remove = (node: RunningNode, webhookId: string) =>
    signed(node, "DELETE", "/webhook", { webhook_id: webhookId });

  let a: RunningNode;
  let b: RunningNode;
  beforeAll(async () => {
    upstream = await startUpstream();
    shared = await startSharedServices(compiledProgram, upstream);
    [a, b] = await Promise.all([startReady("a"), startReady("b")]);
  }, 180_000);
  afterAll(() => shared[Symbol.asyncDispose]());

  test("a cast is delivered once to each webhook with both nodes up, one down, restarting, and filling from nothing", async () => {
    await using receiver = startReceiver();
    const hooks = [await addWebhook(a, receiver.port, "/one"), await addWebhook(b, receiver.port, "/two")];
    const texts: string[] = [];
    const cast = async (text: string) => {
      texts.push(text);
      upstream.cast(text);
      await eventually(() => receiver.requests.length >= 2 * texts.length);
      // A node that is killed before the settlement leaves a call to be repeated.
      await eventually(isSettled);
    };
    await cast("both are up");
    await kill(a, "a");
    await cast("one is down");
    a = await start("a");
    await cast("one restarts");
    await eventually(() => isReady(a));
    upstream.hold();
    const filling = await start("c");
    await cast("another one fills");
    upstream.release();
    await eventually(() => isReady(filling));
    await cast("three are up");
    await filling.stop();
    expect(receiver.requests.map(textOf).sort()).toEqual([...texts, ...texts].sort());
    expect(new Set(receiver.requests.map(idOf)).size).toBe(2 * texts.length);
    for (const hook of hooks) await remove(a, hook);
  }, 180_000);

  test("a webhook that was made on one node gets the next cast, which only the other one applies", async () => {
    await using receiver = startReceiver();
    const hook = await addWebhook(a, receiver.port);
    process.kill(a.pid, "SIGSTOP");
    upstream.cast("only the other one is awake");
    await eventually(() => receiver.requests.length === 1);
    process.kill(a.pid, "SIGCONT");
    await remove(b, hook);
  }, 180_000);

  test("tests, replays and a deactivation by 410 through one node apply on the other", async () => {
    let status = 200;
    await using receiver = startReceiver({ respond: () => new Response("", { status }) });
    const hook = await addWebhook(a, receiver.port);
    upstream.cast("to be replayed");
    await eventually(() => receiver.requests.length === 1);
    const [first] = receiver.requests.map(idOf);
    const delivered = async (node: RunningNode) =>
      (await signed(node, "GET", `/webhook/deliveries?webhook_id=${hook}&state=delivered`)).deliveries;
    await eventually(async () => (await delivered(b)).length === 1);
    await signed(b, "POST", "/webhook/deliveries/replay", { webhook_id: hook, message_id: first });
    await eventually(() => receiver.requests.length === 2);
    expect(idOf(receiver.requests[1] as ReceivedRequest)).toBe(first as string);
    await signed(b, "POST", "/webhook/test", { webhook_id: hook });
    await eventually(() => receiver.requests.length === 3);
    expect(JSON.parse(receiver.requests[2]?.body ?? "{}").test).toBe(true);
    status = 410;
    upstream.cast("the receiver is gone");
    const activity = async (node: RunningNode) =>
      (await signed(node, "GET", `/webhook?webhook_id=${hook}`)).webhook.active;
    await eventually(async () => (await activity(b)) === false);
    expect(await activity(a)).toBe(false);
    status = 200;
    await signed(b, "PATCH", "/webhook", { webhook_id: hook, active: true });
    upstream.cast("delivered again");
    await eventually(() => receiver.requests.some((request) => textOf(request) === "delivered again"));
    await remove(a, hook);
  }, 180_000);

  test.skipIf(!IS_LONG)(
    "while nodes are killed in turn, each cast arrives under one id, repeated only within 10 seconds of a kill",
    async () => {
      const casts = IS_LONG ? 1_000 : 60;
      const kills = IS_LONG ? 10 : 2;
      const arrivals: { readonly id: string; readonly text: string; readonly atMs: number }[] = [];
      await using receiver = startReceiver({
        async respond(request) {
          // Another test's receiver may have had the port.
          if (textOf(request).startsWith("number "))
            arrivals.push({ id: idOf(request), text: textOf(request), atMs: Date.now() });
          await Bun.sleep(20);
          return new Response("ok");
        },
      });
      const hook = await addWebhook(a, receiver.port);
      const killedAtMs: number[] = [];
      for (let n = 0; n < casts; n += 1) {
        upstream.cast(`number ${n}`);
        if (n % Math.ceil(casts / kills) === 10) {
          killedAtMs.push(Date.now());
          if (killedAtMs.length % 2 === 1) {
            await kill(a, "a");
            a = await start("a");
          } else {
            await kill(b, "b");
            b = await start("b");
          }
        }
        await Bun.sleep(10);
      }
      const idsByText = () => Map.groupBy(arrivals, ({ text }) => text);
      await eventually(() => idsByText().size === casts);
      await eventually(async () => (await isReady(a)) && (await isReady(b)));
      for (const same of idsByText().values()) {
        expect(new Set(same.map(({ id }) => id)).size).toBe(1);
        for (const { atMs } of same.slice(1))
          expect(killedAtMs.some((killedMs) => atMs >= killedMs && atMs < killedMs + 10_000)).toBe(true);
      }
      await remove(a, hook);
    },
    240_000,
  );

  test.skipIf(!IS_LONG)(
    "a receiver never gets more than 50 calls in 10 seconds, nor 5 at once",
    async () => {
      await Promise.all([a.stop(), b.stop()]);
      const limit = ["webhooks.rate_limit=50", "webhooks.rate_limit_duration_secs=10"];
      [a, b] = await Promise.all([startReady("a", ...limit), startReady("b", ...limit)]);
      const startsAtMs: number[] = [];
      let inFlight = 0;
      let most = 0;
      await using receiver = startReceiver({
        async respond() {
          startsAtMs.push(performance.now());
          inFlight += 1;
          most = Math.max(most, inFlight);
          await Bun.sleep(50);
          inFlight -= 1;
          return new Response("ok");
        },
      });
      const hook = await addWebhook(a, receiver.port);
      for (let n = 0; n < 160; n += 1) upstream.cast(`quick ${n}`);
      await eventually(() => startsAtMs.length === 160);
      expect(most).toBeLessThanOrEqual(4);
      for (const from of startsAtMs)
        expect(startsAtMs.filter((at) => at >= from && at < from + 10_000).length).toBeLessThanOrEqual(50);
      await remove(b, hook);
    },
    180_000,
  );
});
