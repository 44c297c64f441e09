import { getInsecureHubRpcClient, Message } from "@farcaster/hub-nodejs";
import { openState, statePath } from "../src/db/state/database.ts";
import type { QueuedEvent } from "../src/webhooks/store/delivery-publications.ts";
import type { Webhook } from "../src/webhooks/store/webhook-store.ts";
import { MAX_REPLAYS_PER_SECOND, REPLAYS_PER_SECOND } from "../src/webhooks/webhook-requests.ts";
import { castNow, deliveryArgs, prepareDeliveries } from "../test/support/delivery-network.ts";
import { webhookTo } from "../test/support/delivery-receiver.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { hashOf } from "../test/support/social.ts";
import { localStores } from "../test/support/state-stores.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const EVENTS_PER_SEC = 200;
const LATENCY_SECS = 10;
const WARM_UP_EVENTS = 600;
const FIDS = [1, 2, 3, 4];
const DELIVERIES = 10_000;
/** With 4 concurrent calls each, they use all 16. */
const WEBHOOKS = 4;
const CALLS_IN_FLIGHT = 16;

/**
 * Measures the time from submitting a cast to the arrival of its delivery at 200 casts per second: with one working receiver
 * only, with three failing receivers in addition, and while 10,000 deliveries of another webhook are replayed, at the
 * default rate of a replay and at the highest one. Also measures how fast a full queue is drained, compared with a bare loop
 * that posts the same bodies at the same concurrency.
 */
export async function benchDeliveries(): Promise<Figure[]> {
  const undisturbed = await latencyWith(() => []);
  const others = [
    startReceiver(() => new Promise(() => undefined)),
    startReceiver(() => new Response("broken", { status: 500 })),
    startReceiver(() => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } })),
  ];
  const disturbed = await latencyWith(() => others.map(({ url }) => webhookTo(url)));
  for (const other of others) other.stop();
  const replayed = startReceiver(() => new Response("ok"));
  const besideReplay = new Map<number, { readonly p99Ms: number }>();
  for (const perSecond of [REPLAYS_PER_SECOND, MAX_REPLAYS_PER_SECOND])
    besideReplay.set(
      perSecond,
      await latencyWith(
        () => [webhookTo(replayed.url)],
        (dataDir, [webhook]) => replayFailed(dataDir, webhook, perSecond),
      ),
    );
  replayed.stop();
  const { ownRate, bareRate } = await throughput();
  const latency = `from submit to receipt at ${EVENTS_PER_SEC} casts/s`;
  const withFailing = "  with receivers that hang, fail and redirect";
  const bare = "a bare loop that posts the same bodies";
  return [
    { what: `${latency}, median`, value: undisturbed.p50Ms, unit: "ms" },
    { what: `${latency}, p99`, value: undisturbed.p99Ms, unit: "ms" },
    { what: "  of which the submit itself, median", value: undisturbed.submitMs, unit: "ms" },
    {
      what: `${withFailing}, median`,
      value: disturbed.p50Ms,
      unit: "ms",
      ratio: { of: "without them", value: disturbed.p50Ms / undisturbed.p50Ms },
    },
    {
      what: `${withFailing}, p99`,
      value: disturbed.p99Ms,
      unit: "ms",
      ratio: { of: "without them", value: disturbed.p99Ms / undisturbed.p99Ms },
    },
    ...[...besideReplay].map(([perSecond, { p99Ms }]) => ({
      what: `  beside a replay of ${DELIVERIES.toLocaleString("en")} deliveries, ${perSecond} a second, p99`,
      value: p99Ms,
      unit: "ms",
      ratio: { of: "without it", value: p99Ms / undisturbed.p99Ms },
    })),
    { what: bare, value: bareRate, unit: "posts/s" },
    {
      what: `a queue of ${DELIVERIES.toLocaleString("en")}, signed and settled`,
      value: ownRate,
      unit: "deliveries/s",
      ratio: { of: bare, value: ownRate / bareRate },
    },
  ];
}

/** Starts a receiver without checks. `onBody` sees each body as it arrives. */
function startReceiver(
  respond: () => Response | Promise<Response>,
  onBody: (body: string, path: string) => void = () => undefined,
) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      onBody(await request.text(), new URL(request.url).pathname);
      return respond();
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, stop: () => server.stop(true) };
}

async function startWith(dataDir: string): Promise<RunningNode> {
  return startNode({ command: [await compileInto(DIST)], dataDir, args: deliveryArgs });
}

/** Times start when a cast was due to be submitted, so that a stall counts for every cast that it delays. */
async function latencyWith(
  others: () => readonly Webhook[],
  prepare: (dataDir: string, others: readonly Webhook[]) => Promise<void> = async () => {},
) {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  const receivedAt = new Map<string, number>();
  let onArrival = () => {};
  const receiver = startReceiver(
    () => new Response("ok"),
    (body) => {
      receivedAt.set((JSON.parse(body) as { data: { hash: string } }).data.hash, performance.now());
      onArrival();
    },
  );
  const beside = others();
  await prepareDeliveries(dataDir, { fids: FIDS, webhooks: [webhookTo(receiver.url), ...beside] });
  await prepare(dataDir, beside);
  await using node = await startWith(dataDir);
  const hub = getInsecureHubRpcClient(node.hubAddress);

  async function run(count: number) {
    const casts = Array.from({ length: count }, (_, at) => {
      const bytes = castNow(FIDS[at % FIDS.length] ?? 1, `Number ${at} of ${count}, to be measured.`);
      return { hash: hashOf(bytes), message: Message.decode(bytes), dueAt: 0, submittedAt: 0 };
    });
    receivedAt.clear();
    const allArrived = Promise.withResolvers<void>();
    onArrival = () => {
      if (receivedAt.size === count) allArrived.resolve();
    };
    const startedAt = performance.now();
    const submits: Promise<void>[] = [];
    for (const [at, cast] of casts.entries()) {
      cast.dueAt = startedAt + (at * 1000) / EVENTS_PER_SEC;
      while (performance.now() < cast.dueAt) await Bun.sleep(1);
      const submit = hub.submitMessage(cast.message).then((result) => {
        if (result.isErr()) throw result.error;
        cast.submittedAt = performance.now();
      });
      submits.push(submit);
    }
    await Promise.all([...submits, allArrived.promise]);
    return casts;
  }

  await run(WARM_UP_EVENTS);
  const casts = await run(EVENTS_PER_SEC * LATENCY_SECS);
  hub.$.close();
  receiver.stop();
  const latencies = casts
    .map(({ hash, dueAt }) => (receivedAt.get(hash) ?? Number.NaN) - dueAt)
    .sort((a, b) => a - b);
  return {
    p50Ms: median(latencies),
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    submitMs: median(casts.map(({ dueAt, submittedAt }) => submittedAt - dueAt)),
  };
}

/** Stores failed deliveries of a webhook, and a replay of them, which the node runs from its start. */
async function replayFailed(dataDir: string, webhook: Webhook | undefined, perSecond: number): Promise<void> {
  const webhookId = webhook?.webhookId ?? "";
  const nowSecs = Math.floor(Date.now() / 1000);
  await queueEvents(
    dataDir,
    Array.from({ length: DELIVERIES }, (_, at) => bodyOf(at)),
    [webhookId],
  );
  using state = openState(statePath(dataDir));
  state.sqlite.run("UPDATE deliveries SET state = 'failed', attempts = 5, due_at_ms = NULL, ended_at = ?", [
    nowSecs,
  ]);
  const started = await localStores(state).replays.start(
    {
      replayId: "replay",
      webhookId,
      ownerFid: 1,
      scope: "failed",
      perSecond,
      maxSent: DELIVERIES,
      fromAt: nowSecs - 60,
      toAt: nowSecs + 60,
    },
    nowSecs,
  );
  if (started !== "started") throw new Error(`the replay did not start: ${started}`);
}

async function queueEvents(
  dataDir: string,
  bodies: readonly string[],
  webhookIds: readonly string[],
): Promise<void> {
  using state = openState(statePath(dataDir));
  const nowSecs = Math.floor(Date.now() / 1000);
  const publications = localStores(state).publications;
  const events = bodies.map(
    (body, at): QueuedEvent => ({
      eventId: `${at}`,
      kind: "cast.created",
      createdAt: nowSecs,
      body,
      webhookIds,
    }),
  );
  const { version } = await publications.changesSince(0);
  await publications.publish({ version, nowSecs, events });
}

/** Measures from the first to the last arrival of deliveries that were queued before the start. */
async function throughput(): Promise<{ ownRate: number; bareRate: number }> {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  let arrived = 0;
  let firstAt = 0;
  let lastAt = 0;
  let allArrived = Promise.withResolvers<void>();
  const receiver = startReceiver(
    () => new Response("ok"),
    () => {
      if (arrived === 0) firstAt = performance.now();
      arrived += 1;
      if (arrived < DELIVERIES) return;
      lastAt = performance.now();
      allArrived.resolve();
    },
  );
  const webhooks = Array.from({ length: WEBHOOKS }, (_, at) => webhookTo(`${receiver.url}${at}`));
  await prepareDeliveries(dataDir, { fids: FIDS, webhooks });
  const bodies = Array.from({ length: DELIVERIES / WEBHOOKS }, (_, at) => bodyOf(at));
  await queueEvents(
    dataDir,
    bodies,
    webhooks.map(({ webhookId }) => webhookId),
  );
  await bareLoop(receiver.url, bodies);
  const bareRate = DELIVERIES / ((lastAt - firstAt) / 1000);
  arrived = 0;
  allArrived = Promise.withResolvers();
  await using _node = await startWith(dataDir);
  await allArrived.promise;
  receiver.stop();
  return { bareRate, ownRate: DELIVERIES / ((lastAt - firstAt) / 1000) };
}

/** Returns a body about as long as that for a cast with an embed and a mention. */
function bodyOf(at: number): string {
  return JSON.stringify({
    created_at: 1,
    type: "cast.created",
    data: { hash: `${at}`, text: "x".repeat(2_000) },
  });
}

async function bareLoop(url: string, bodies: readonly string[]): Promise<void> {
  let next = 0;
  const loop = async () => {
    while (next < DELIVERIES) {
      const body = bodies[next++ % bodies.length] ?? "";
      await (await fetch(url, { method: "POST", body })).text();
    }
  };
  await Promise.all(Array.from({ length: CALLS_IN_FLIGHT }, loop));
}
