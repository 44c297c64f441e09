import { join } from "node:path";
import { openState, statePath } from "../src/db/state/database.ts";
import { createSteadyClock } from "../src/db/state/state-clock.ts";
import { createPostgresStores } from "../src/node/state/postgres/open-postgres.ts";
import { nowSecs, systemClock } from "../src/runtime/clock.ts";
import type { QueuedEvent } from "../src/webhooks/store/delivery-publications.ts";
import type { CallLimit } from "../src/webhooks/store/delivery-queue.ts";
import { deliveryArgs, prepareDeliveries } from "../test/support/delivery-network.ts";
import { webhookTo } from "../test/support/delivery-receiver.ts";
import { createDatabase, type PostgresDatabase } from "../test/support/postgres/database.ts";
import { addLiveNode } from "../test/support/postgres/live-node.ts";
import type { PostgresServer } from "../test/support/postgres/server.ts";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import { localStores } from "../test/support/state-stores.ts";
import type { DeliverOptions } from "../test/webhooks/deliver/processes/deliver.ts";
import type { Figure } from "./main.ts";
import { startDurablePostgres } from "./postgres.ts";
import { median } from "./start.ts";

const PLENTY: CallLimit = { calls: 1_000_000, windowMs: 60_000, maxWaitMs: 900_000 };
const CLOCK = {
  clock: createSteadyClock({ clock: systemClock }),
  limits: { maxQueued: 1_000_000 },
};
const NODE_RUNS = 3;
const QUICK_WEBHOOKS = 4;
const BATCH = 100;
const LOOP_DELIVERIES = 1_000;
const QUICK_DELIVERIES = 10_000;
const SLOW_DELIVERIES = 2_400;
const SLOW_MS = 50;
const PUBLISHED_EVENTS = 6_000;

/**
 * Measures processes that deliver from one PostgreSQL: how fast one drains a full queue, compared with a bare loop that
 * claims and settles one delivery at a time; how much faster two are than one with receivers that take 50 ms; and how long
 * three take to publish the same events, compared with one.
 */
export async function benchDeliveriesPostgres(): Promise<Figure[]> {
  await using server = await startDurablePostgres();
  const loopRate = await bareLoop(server);
  const quickRate = await drain(server, {
    processes: 1,
    webhooks: QUICK_WEBHOOKS,
    deliveries: QUICK_DELIVERIES,
    callMs: 0,
  });
  const slow = { webhooks: 40, deliveries: SLOW_DELIVERIES, callMs: SLOW_MS };
  const oneRate = await drain(server, { ...slow, processes: 1 });
  const twoRate = await drain(server, { ...slow, processes: 2 });
  const threeRate = await drain(server, { ...slow, processes: 3 });
  const oneMs = await publishing(server, 1);
  const threeMs = await publishing(server, 3);
  const nodes = await nodeRates(server);
  const loop = "a loop that claims and settles one at a time";
  return [
    { what: loop, value: loopRate, unit: "deliveries/s" },
    {
      what: `a queue of ${QUICK_DELIVERIES.toLocaleString("en")}, one process`,
      value: quickRate,
      unit: "deliveries/s",
      ratio: { of: `${loop}, goal 0.60`, value: quickRate / loopRate },
    },
    {
      what: `the same queue, a whole node with state.db, median of ${NODE_RUNS}`,
      value: median(nodes.sqlite),
      unit: "deliveries/s",
    },
    {
      what: "the same queue, a whole node with PostgreSQL",
      value: median(nodes.postgres),
      unit: "deliveries/s",
      ratio: {
        of: "a node with state.db, goal 0.30",
        value: median(nodes.postgres.map((rate, run) => rate / (nodes.sqlite[run] ?? Number.NaN))),
      },
    },
    { what: `receivers of ${SLOW_MS} ms, one process`, value: oneRate, unit: "deliveries/s" },
    {
      what: `receivers of ${SLOW_MS} ms, two processes`,
      value: twoRate,
      unit: "deliveries/s",
      ratio: { of: "one process, goal 1.8", value: twoRate / oneRate },
    },
    {
      what: `receivers of ${SLOW_MS} ms, three processes`,
      value: threeRate,
      unit: "deliveries/s",
      ratio: { of: "one process", value: threeRate / oneRate },
    },
    {
      what: `publishing ${PUBLISHED_EVENTS.toLocaleString("en")} events, one process`,
      value: oneMs,
      unit: "ms",
    },
    {
      what: "the same events, three processes at once",
      value: threeMs,
      unit: "ms",
      ratio: { of: "one process, at most 1.3", value: threeMs / oneMs },
    },
  ];
}

/** Returns the stores of a live process. */
async function storesOf(database: PostgresDatabase) {
  const options = {
    node: await addLiveNode(database),
    ...CLOCK,
  };
  return createPostgresStores(database.pools(), options);
}

type Stores = Awaited<ReturnType<typeof storesOf>>;

/** URLs with names that the processes of this benchmark resolve to this machine. */
const toExample = (port: number) => (n: number) => `http://receiver-${n}.example:${port}/`;

async function addWebhooks(
  { webhooks }: Pick<Stores, "webhooks">,
  count: number,
  urlOf: (n: number) => string,
): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const webhook = webhookTo(urlOf(n));
    await webhooks.create(webhook, count);
    ids.push(webhook.webhookId);
  }
  return ids;
}

async function publish(
  { publications }: Pick<Stores, "publications">,
  events: number,
  webhookIds: readonly string[],
): Promise<void> {
  const { version } = await publications.changesSince(0);
  // About as long as the body for a cast with an embed and a mention.
  const body = JSON.stringify({ type: "cast.created", data: { text: "x".repeat(2_000) } });
  for (let from = 0; from < events; from += BATCH) {
    const batch = Array.from(
      { length: Math.min(BATCH, events - from) },
      (_, at): QueuedEvent => ({
        eventId: `event ${from + at}`,
        kind: "cast.created",
        createdAt: nowSecs(systemClock),
        body,
        webhookIds,
      }),
    );
    await publications.publish({ version, nowSecs: nowSecs(systemClock), events: batch });
  }
}

async function bareLoop(server: PostgresServer): Promise<number> {
  await using database = await createDatabase({ server });
  const stores = await storesOf(database);
  const [webhookId = ""] = await addWebhooks(stores, 1, toExample(1));
  await publish(stores, LOOP_DELIVERIES, [webhookId]);
  const rule = { failures: 100, runSecs: 86_400 };
  const startedMs = performance.now();
  for (let n = 0; n < LOOP_DELIVERIES; n += 1) {
    const nowMs = Date.now();
    const lease = { nowMs, leaseEndsAtMs: nowMs + 40_000, maxRetryDelayMs: 3_600_000 };
    const claimed = await stores.queue.claim({ webhookId, ...lease, limit: PLENTY, max: 1, maxHoldMs: 0 });
    const [delivery] = claimed?.deliveries ?? [];
    if (!delivery) throw new Error("the queue is empty");
    const attempt = { atMs: nowMs, status: 200, error: null, durationMs: 1, responseText: "ok" };
    const settlement = { delivery, attempt, verdict: { kind: "delivered" }, holdUntilMs: null } as const;
    await stores.queue.settle([settlement], rule);
  }
  return LOOP_DELIVERIES / ((performance.now() - startedMs) / 1000);
}

/** Measures from the first arrival to the last. */
async function drain(
  server: PostgresServer,
  options: {
    readonly processes: number;
    readonly webhooks: number;
    readonly deliveries: number;
    readonly callMs: number;
  },
): Promise<number> {
  const { processes, deliveries, callMs } = options;
  await using database = await createDatabase({ server });
  const stores = await storesOf(database);
  let arrived = 0;
  let firstMs = 0;
  const allArrived = Promise.withResolvers<number>();
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.text();
      if (arrived === 0) firstMs = performance.now();
      arrived += 1;
      if (arrived === deliveries) allArrived.resolve(performance.now());
      if (callMs > 0) await Bun.sleep(callMs);
      return new Response("ok");
    },
  });
  const webhookIds = await addWebhooks(stores, options.webhooks, toExample(receiver.port ?? 0));
  await publish(stores, deliveries / options.webhooks, webhookIds);
  const script = join(import.meta.dir, "../test/webhooks/deliver/processes/deliver.ts");
  const children = [];
  for (let n = 0; n < processes; n += 1) {
    const given: DeliverOptions = {
      settings: database.settings,
      node: await addLiveNode(database),
      limit: PLENTY,
    };
    const child = Bun.spawn([process.execPath, script, JSON.stringify(given)], {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "inherit",
    });
    children.push(child);
  }
  const lastMs = await allArrived.promise;
  for (const child of children) child.stdin.end();
  await Promise.all(children.map(({ exited }) => exited));
  receiver.stop(true);
  return deliveries / ((lastMs - firstMs) / 1000);
}

/** Drains a full queue with the compiled program, alternately with the state in state.db and in PostgreSQL. */
async function nodeRates(server: PostgresServer): Promise<Record<"sqlite" | "postgres", number[]>> {
  const rates = { sqlite: [] as number[], postgres: [] as number[] };
  const command = [await compileInto(DIST)];
  for (let run = 0; run < NODE_RUNS; run++) {
    {
      using dir = tempDir();
      const arrivals = countArrivals(QUICK_DELIVERIES);
      await prepareDeliveries(dir.path, { fids: [], webhooks: [] });
      {
        using state = openState(statePath(dir.path));
        await fillQueue(localStores(state), arrivals.port);
      }
      await using _node = await startNode({ command, dataDir: dir.path, args: deliveryArgs });
      rates.sqlite.push(await arrivals.rate);
    }
    using dir = tempDir();
    await using database = await createDatabase({ server });
    const arrivals = countArrivals(QUICK_DELIVERIES);
    await fillQueue(
      createPostgresStores(database.pools(), { ...CLOCK, node: database.node() }),
      arrivals.port,
    );
    const args = ["--set", `state.url=${database.url}`, ...deliveryArgs];
    await using _node = await startNode({ command, dataDir: dir.path, args });
    rates.postgres.push(await arrivals.rate);
  }
  return rates;
}

async function fillQueue(stores: Pick<Stores, "webhooks" | "publications">, port: number): Promise<void> {
  const ids = await addWebhooks(stores, QUICK_WEBHOOKS, (n) => `http://127.0.0.1:${port}/${n}`);
  await publish(stores, QUICK_DELIVERIES / QUICK_WEBHOOKS, ids);
}

/** Starts a receiver that responds at once, and measures the rate from its first call to the last. */
function countArrivals(deliveries: number): { readonly port: number; readonly rate: Promise<number> } {
  let arrived = 0;
  let firstMs = 0;
  const { promise: rate, resolve } = Promise.withResolvers<number>();
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      await request.text();
      if (arrived === 0) firstMs = performance.now();
      arrived += 1;
      if (arrived === deliveries) {
        resolve((deliveries * 1000) / (performance.now() - firstMs));
        setTimeout(() => receiver.stop(true), 1_000);
      }
      return new Response("ok");
    },
  });
  return { port: receiver.port ?? 0, rate };
}

async function publishing(server: PostgresServer, processes: number): Promise<number> {
  await using database = await createDatabase({ server });
  const all = await Promise.all(Array.from({ length: processes }, () => storesOf(database)));
  const [first] = all;
  const webhookIds = first ? await addWebhooks(first, 1, toExample(1)) : [];
  const startedMs = performance.now();
  await Promise.all(all.map((stores) => publish(stores, PUBLISHED_EVENTS, webhookIds)));
  return performance.now() - startedMs;
}
