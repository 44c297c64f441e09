import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { StateNode } from "../../../../src/db/state/state-db.ts";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import type { CallLimit } from "../../../../src/webhooks/store/delivery-queue.ts";
import { UNTRIED } from "../../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../../management/owned-store-contract.ts";
import { ManualClock } from "../../../support/clock.ts";
import { IS_LONG } from "../../../support/long.ts";
import { createDatabase, type PostgresDatabase } from "../../../support/postgres/database.ts";
import { addLiveNode, endLease } from "../../../support/postgres/live-node.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { type ReceivedRequest, type Receiver, startReceiver } from "../../../support/receiver.ts";
import type { DeliverOptions } from "./deliver.ts";

const PLENTY: CallLimit = { calls: 100_000, windowMs: 60_000, maxWaitMs: 900_000 };
const NODES = 3;

/** A process that delivers. */
interface Deliverer extends AsyncDisposable {
  readonly node: StateNode;
  signal(name: NodeJS.Signals): void;
  /** Ends it after the calls in flight. */
  stop(): Promise<void>;
}

/** A state with webhooks whose calls go to ports of this machine. */
async function openState() {
  const database = await createDatabase();
  const { publications, webhooks, deliveryLog } = createPostgresStores(database.pools(), {
    clock: steadyClock(new ManualClock(Math.floor(Date.now() / 1000))),
    node: database.node(),
    limits: { maxQueued: 1_000_000 },
  });
  const opened: AsyncDisposable[] = [];
  let events = 0;
  return {
    database,
    log: deliveryLog,
    async addWebhook(webhookId: string, port: number) {
      const createdAt = Math.floor(Date.now() / 1000);
      await webhooks.create(
        {
          webhookId,
          ownerFid: 3,
          title: webhookId,
          targetUrl: `http://${webhookId}.example:${port}/`,
          description: null,
          active: true,
          subscription: { "cast.created": {} },
          compatPrefix: null,
          health: UNTRIED,
          secrets: [makeSecret(Bun.hash.crc32(webhookId))],
          createdAt,
          updatedAt: createdAt,
        },
        1_000,
      );
      return webhookId;
    },
    /** Queues events for webhooks. */
    async publish(count: number, ...webhookIds: string[]) {
      const nowSecs = Math.floor(Date.now() / 1000);
      const added = Array.from({ length: count }, () => {
        events += 1;
        const body = `{"n":${events}}`;
        return {
          eventId: `event-${events}`,
          kind: "cast.created" as const,
          createdAt: nowSecs,
          body,
          webhookIds,
        };
      });
      const { version } = await publications.changesSince(0);
      await publications.publish({ version, nowSecs, events: added });
    },
    async start(limit = PLENTY): Promise<Deliverer> {
      const deliverer = await startDeliverer(database, limit);
      opened.push(deliverer);
      return deliverer;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((deliverer) => deliverer[Symbol.asyncDispose]()));
      await database[Symbol.asyncDispose]();
    },
  };
}

async function startDeliverer(database: PostgresDatabase, limit: CallLimit): Promise<Deliverer> {
  const node = await addLiveNode(database);
  const options: DeliverOptions = { settings: database.settings, node, limit };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "deliver.ts"), JSON.stringify(options)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  for await (const _started of child.stdout) break;
  const stop = async () => {
    child.stdin.end();
    await child.exited;
  };
  return {
    node,
    signal: (name) => child.kill(name),
    stop,
    async [Symbol.asyncDispose]() {
      child.kill("SIGCONT");
      if (child.exitCode === null && child.signalCode === null) await stop();
    },
  };
}

const idsOf = (requests: readonly ReceivedRequest[]) =>
  requests.map(({ headers }) => headers.get("webhook-id") ?? "");

/** Looks again and again, at a rate that leaves the database to the processes. The test's own timeout ends the wait. */
async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20);
}

/** The most values within any span of a length, its end excluded. */
function mostWithin(times: readonly number[], span: number): number {
  return Math.max(...times.map((from, at) => times.slice(at).filter((time) => time < from + span).length));
}

describe.skipIf(!HAS_POSTGRES)("three processes that deliver from one queue", () => {
  const limit: CallLimit = { calls: 50, windowMs: 1_000, maxWaitMs: 900_000 };
  let all: Awaited<ReturnType<typeof openState>>;
  beforeAll(async () => {
    all = await openState();
    await Promise.all(Array.from({ length: NODES }, () => all.start(limit)));
  });
  afterAll(() => all[Symbol.asyncDispose]());

  /** Waits until all that is queued has been delivered. The database is asked only when the receiver has all of it. */
  async function expectEachOnce(receiver: Receiver, deliveries: number, deliveredBefore: number) {
    await eventually(() => receiver.requests.length >= deliveries);
    await eventually(async () => (await all.log.totals()).queued === 0);
    expect(new Set(idsOf(receiver.requests)).size).toBe(deliveries);
    expect(receiver.requests).toHaveLength(deliveries);
    const delivered = deliveredBefore + deliveries;
    expect(await all.log.totals()).toEqual({ queued: 0, delivered, failed: 0, dropped: 0 });
  }

  test("call each delivery once, and together keep the rate limit and four calls at once", async () => {
    const { delivered } = await all.log.totals();
    const startsAtMs: number[] = [];
    let inFlight = 0;
    let most = 0;
    await using receiver = startReceiver({
      async respond() {
        startsAtMs.push(performance.now());
        inFlight += 1;
        most = Math.max(most, inFlight);
        await Bun.sleep(5 + Math.random() * 20);
        inFlight -= 1;
        return new Response("ok");
      },
    });
    const hook = await all.addWebhook("limited", receiver.port);
    const deliveries = IS_LONG ? 1_000 : 100;
    for (let n = 0; n < deliveries; n += 50) await all.publish(50, hook);
    await expectEachOnce(receiver, deliveries, delivered);
    expect(most).toBeLessThanOrEqual(4);
    expect(mostWithin(startsAtMs, limit.windowMs)).toBeLessThanOrEqual(limit.calls);
  });

  test("share many webhooks without calling a delivery twice", async () => {
    const { delivered } = await all.log.totals();
    await using receiver = startReceiver();
    const hooks: string[] = [];
    for (let n = 0; n < 30; n += 1) hooks.push(await all.addWebhook(`hook-${n}`, receiver.port));
    const rounds = IS_LONG ? 100 : 4;
    for (let n = 0; n < rounds; n += 1) await all.publish(5, ...hooks);
    await expectEachOnce(receiver, rounds * 5 * hooks.length, delivered);
  });

  test("a killed one's calls are made again by the others under the same ids, as soon as its lease has ended", async () => {
    await using state = await openState();
    let isHanging = true;
    await using receiver = startReceiver({
      respond: () => (isHanging ? new Promise<Response>(() => undefined) : new Response("ok")),
    });
    await using well = startReceiver();
    const hooks = [await state.addWebhook("a", receiver.port), await state.addWebhook("b", receiver.port)];
    const third = await state.addWebhook("c", well.port);
    const killed = await state.start();
    await state.publish(1, ...hooks);
    await eventually(() => receiver.requests.length === 2);
    const other = await state.start();
    killed.signal("SIGKILL");
    isHanging = false;
    // The other polls the queue; the lease has not ended.
    await state.publish(1, third);
    await eventually(() => well.requests.length === 1);
    expect(receiver.requests).toHaveLength(2);
    await endLease(state.database, killed.node);
    await eventually(async () => (await state.log.totals()).delivered === 3);
    expect(idsOf(receiver.requests.slice(2)).sort()).toEqual(idsOf(receiver.requests.slice(0, 2)).sort());
    await other.stop();
  });

  test("a stopped one settles nothing after another has taken its deliveries", async () => {
    await using state = await openState();
    const responses: PromiseWithResolvers<Response>[] = [];
    await using receiver = startReceiver({
      respond() {
        const response = Promise.withResolvers<Response>();
        responses.push(response);
        return response.promise;
      },
    });
    const hook = await state.addWebhook("a", receiver.port);
    const stopped = await state.start();
    await state.publish(1, hook);
    await eventually(() => responses.length === 1);
    stopped.signal("SIGSTOP");
    await endLease(state.database, stopped.node);
    await state.start();
    await eventually(() => responses.length === 2);
    responses[0]?.resolve(new Response("", { status: 410 }));
    stopped.signal("SIGCONT");
    await stopped.stop();
    expect(await state.log.totals()).toMatchObject({ queued: 1, failed: 0 });
    responses[1]?.resolve(new Response("ok"));
    await eventually(async () => (await state.log.totals()).delivered === 1);
    const [delivery] = (await state.log.list({ webhookId: hook, after: undefined, max: 9 })).deliveries;
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([200]);
  });
});
