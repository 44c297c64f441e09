import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { createSteadyClock } from "../../../src/db/state/state-clock.ts";
import type { StateNode } from "../../../src/db/state/state-db.ts";
import { createFanOut } from "../../../src/node/compose/sending/fan-out.ts";
import { createPostgresStores } from "../../../src/node/state/postgres/open-postgres.ts";
import type { FanOutEngine } from "../../../src/push/fan-out/fan-out.ts";
import type { SendPermission } from "../../../src/push/fan-out/slots.ts";
import { nowSecs, systemClock } from "../../../src/runtime/clock.ts";
import { configWith } from "../../runtime/config.ts";
import { logTo } from "../../support/log.ts";
import { loopbackClient } from "../../support/loopback-client.ts";
import { until } from "../../support/manual-time.ts";
import { createDatabase, type PostgresDatabase } from "../../support/postgres/database.ts";
import { addLiveNode, endLease } from "../../support/postgres/live-node.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { allServed, type PushClient, type PushScript, startPushClient } from "../../support/push-client.ts";
import { APP_ID, testApp, testTimings } from "../../support/send.ts";

/** A node as far as campaigns are concerned. */
interface TestNode {
  readonly node: StateNode;
  readonly engine: FanOutEngine;
  readonly stores: ReturnType<typeof createPostgresStores>;
  permission: SendPermission;
  leaseNumber: number;
  /** Calls that it has started. */
  calls: number;
  readonly logs: string[];
}

let database: PostgresDatabase;
let index: IndexDatabase;
let nodes: TestNode[];

describe.skipIf(!HAS_POSTGRES)("two nodes over one PostgreSQL", () => {
  beforeEach(async () => {
    database = await createDatabase();
    index = openIndexInMemory();
    nodes = [];
  });
  afterEach(async () => {
    await Promise.all(nodes.map(({ engine }) => engine.stop(0)));
    await database[Symbol.asyncDispose]();
    index[Symbol.dispose]();
  });

  async function startNode(timeoutMs = 10_000): Promise<TestNode> {
    const node = await addLiveNode(database);
    const clock = createSteadyClock({ clock: systemClock });
    const stores = createPostgresStores(database.pools(), { node, clock, limits: { maxQueued: 1 } });
    const logs: string[] = [];
    const outbound = loopbackClient();
    const started: TestNode = {
      node,
      stores,
      permission: "granted",
      leaseNumber: 0,
      calls: 0,
      logs,
      engine: createFanOut({
        common: {
          config: configWith(),
          clock: systemClock,
          log: logTo((line) => void logs.push(line)),
        },
        index,
        state: stores,
        client: {
          request(call) {
            started.calls += 1;
            return outbound.request(call);
          },
        },
        timings: { ...testTimings, timeoutMs },
        permission: () => started.permission,
        leaseNumber: () => started.leaseNumber,
      }),
    };
    nodes.push(started);
    return started;
  }

  async function prepare(client: PushClient, tokens: number): Promise<readonly [a: TestNode, b: TestNode]> {
    const [a, b] = [await startNode(), await startNode()];
    await a.stores.apps.create(testApp(), 10);
    await database.query(
      `INSERT INTO tokens (app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at)
       SELECT '${APP_ID}', n, 9152, 'http://c.example:${client.port}/', 'c.example:${client.port}', 't' || n, true,
         'miniapp_added', 1, 1 FROM generate_series(1, ${tokens}) AS n`,
    );
    return [a, b];
  }

  async function send({ stores }: TestNode, campaignId: string, notificationId = campaignId): Promise<void> {
    await stores.campaigns.create(
      {
        campaignId,
        appId: APP_ID,
        notification: { notificationId, title: "T", body: "B", targetUrl: "https://app.example" },
        audience: { targetFids: [], excludeFids: [], followingFid: null },
        createdAt: nowSecs(systemClock),
        ledgerSecs: 86_400,
      },
      10,
    );
  }

  const found = async ({ stores }: TestNode, campaignId: string) => stores.campaigns.find(campaignId);
  const timesShown = ({ shown }: PushClient) => [...shown.values()];

  /** Holds the calls from the nth on until `release`. */
  function holding(nth: number): {
    readonly script: PushScript;
    readonly held: Promise<void>;
    release(): void;
  } {
    const gate = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    return {
      async script(request, at) {
        if (at >= nth) {
          held.resolve();
          await gate.promise;
        }
        return allServed(request, at);
      },
      held: held.promise,
      release: () => gate.resolve(),
    };
  }

  test("one notification sent through both at once reaches each of 10,000 fids once, and both calls return", async () => {
    await using client = startPushClient();
    const [a, b] = await prepare(client, 10_000);
    await Promise.all([send(a, "a", "n"), send(b, "b", "n")]);
    const outcomes = await Promise.all([a.engine.run("a"), b.engine.run("b")]);
    expect(outcomes.every((outcome) => outcome !== undefined)).toBe(true);
    expect([client.shown.size, Math.max(...timesShown(client))]).toEqual([10_000, 1]);
    const counts = [(await found(a, "a"))?.counts, (await found(a, "b"))?.counts];
    expect((counts[0]?.success ?? 0) + (counts[1]?.success ?? 0)).toBe(10_000);
    for (const count of counts) expect((count?.success ?? 0) + (count?.notAttempted ?? 0)).toBe(10_000);
  });

  test("a campaign runs on the node that it was sent to, and a caller at the other node gets its end", async () => {
    await using client = startPushClient();
    const [a, b] = await prepare(client, 5);
    await send(a, "a");
    const [own, other] = await Promise.all([a.engine.run("a"), b.engine.run("a")]);
    expect(own?.results).toHaveLength(5);
    expect(other).toEqual({ results: undefined });
    expect(b.logs.join("")).not.toContain("campaign");
  });

  test("a node whose lease has ended loses its campaigns; it writes nothing more, and every token is counted once", async () => {
    const { script, held, release } = holding(10);
    await using client = startPushClient(script);
    const [a, b] = await prepare(client, 3_000);
    await send(a, "a");
    void a.engine.run("a");
    await held;
    // As a node that is cut off or frozen: it stops itself before its lease ends.
    a.permission = "isolated";
    await until(async () => (await found(a, "a"))?.counts.success === 1_000);
    // What it has started is on its way to the client, or there.
    await until(() => client.requests.length === a.calls);
    const inFlight = client.requests.slice(10).flatMap(({ tokens }) => tokens);
    await endLease(database, a.node);
    await until(() => b.logs.some((line) => line.includes("Resumed an unfinished campaign")));
    release();
    await b.engine.run("a");
    await until(() => a.logs.some((line) => line.includes("taken over")));
    const campaign = await found(a, "a");
    expect(campaign).toMatchObject({ status: "completed", counts: { success: 3_000, failure: 0 } });
    expect(client.shown.size).toBe(3_000);
    const twice = [...client.shown].filter(([, times]) => times > 1).map(([key]) => key.split(" ")[1] ?? "");
    expect(twice.every((token) => inFlight.includes(token))).toBe(true);
  });

  test("a node that stood still and has a new lease sends nothing that it had claimed under the old one", async () => {
    const { script, held, release } = holding(10);
    await using client = startPushClient(script);
    const [a, b] = await prepare(client, 3_000);
    await send(a, "a");
    void a.engine.run("a");
    await held;
    a.permission = "isolated";
    await until(async () => (await found(a, "a"))?.counts.success === 1_000);
    await until(() => client.requests.length === a.calls);
    const inFlight = client.requests.slice(10).flatMap(({ tokens }) => tokens);
    await endLease(database, a.node);
    await until(() => b.logs.some((line) => line.includes("Resumed an unfinished campaign")));
    // It wakes up with claims that are not over, and has its next lease before it has noticed anything.
    a.leaseNumber += 1;
    a.permission = "granted";
    release();
    await b.engine.run("a");
    await until(() => a.logs.some((line) => line.includes("taken over")));
    expect(await found(a, "a")).toMatchObject({
      status: "completed",
      counts: { success: 3_000, failure: 0 },
    });
    const twice = [...client.shown].filter(([, times]) => times > 1).map(([key]) => key.split(" ")[1] ?? "");
    expect(twice.filter((token) => !inFlight.includes(token))).toEqual([]);
  });

  test("a node that stops leaves its campaigns to the other one before its calls end", async () => {
    const { script, held, release } = holding(10);
    await using client = startPushClient(script);
    const [a, b] = await prepare(client, 3_000);
    await send(a, "a");
    void a.engine.run("a");
    await held;
    const stopped = a.engine.stop(500);
    await until(() => b.logs.some((line) => line.includes("Resumed an unfinished campaign")));
    release();
    await stopped;
    await b.engine.run("a");
    expect((await found(b, "a"))?.counts).toEqual({ success: 3_000, failure: 0, notAttempted: 0 });
  });

  test("a node that may not send takes no campaign and begins no call; a paused caller does not wait", async () => {
    const { script, held, release } = holding(2);
    await using client = startPushClient(script);
    const [a, b] = await prepare(client, 6_000);
    await send(a, "a");
    void a.engine.run("a");
    await held;
    a.permission = "isolated";
    release();
    // The calls in flight end, and their results are stored.
    await until(async () => (await found(a, "a"))?.counts.success === 100 * client.requests.length);
    const started = client.requests.length;
    expect(started).toBeLessThan(60);
    b.permission = "paused";
    await send(b, "b");
    expect(await b.engine.run("b")).toBeUndefined();
    expect(client.requests).toHaveLength(started);
    for (const node of nodes) node.permission = "granted";
    await Promise.all([a.engine.run("a"), b.engine.run("b")]);
    expect((await found(a, "a"))?.counts.success).toBe(6_000);
    expect((await found(a, "b"))?.counts.success).toBe(6_000);
    expect(Math.max(...timesShown(client))).toBe(1);
  });
});
