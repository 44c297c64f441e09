import { describe, expect, test } from "bun:test";
import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import type { QueuedEvent } from "../../../../src/webhooks/store/delivery-publications.ts";
import type { ClaimedDelivery, Verdict } from "../../../../src/webhooks/store/delivery-queue.ts";
import { ManualClock } from "../../../support/clock.ts";
import { IS_LONG } from "../../../support/long.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { addLiveNode } from "../../../support/postgres/live-node.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { NOW, NOW_MS, rule, WEEK } from "../delivery-fixture.ts";
import { webhookItems } from "../webhook-items.ts";
import { wrongCounts } from "./wrong-counts.ts";

const ROUNDS = IS_LONG ? 20 : 2;
const NODES = 3;
const limits = { maxQueued: 1_000_000 };

/** Three nodes with connections of their own. */
async function openNodes() {
  const database = await createDatabase();
  const clock = new ManualClock(NOW);
  const nodes = [];
  for (let n = 0; n < NODES; n += 1) {
    const options = { clock: steadyClock(clock), node: await addLiveNode(database), limits };
    const pools = database.pools({ main: 3, queue: 2 });
    nodes.push({ ...createPostgresStores(pools, options), sweeps: createPostgresSweeps(pools, options) });
  }
  const [first] = nodes;
  if (!first) throw new Error("no node");
  const addWebhook = async (n: number) => {
    const item = webhookItems.makeItem(n, { ownerFid: 3, secrets: [], createdAt: NOW, updatedAt: NOW });
    await first.webhooks.create(item, 1_000);
    return item.webhookId;
  };
  return {
    database,
    clock,
    nodes,
    first,
    addWebhook,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

const eventsOf = (from: number, count: number, webhookIds: readonly string[]): QueuedEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    eventId: `event-${from + n}`,
    kind: "cast.created",
    createdAt: NOW,
    body: `{"n":${from + n}}`,
    webhookIds,
  }));

type Node = Awaited<ReturnType<typeof openNodes>>["nodes"][number];

async function publish(node: Node, events: readonly QueuedEvent[]): Promise<number> {
  for (;;) {
    const { version } = await node.publications.changesSince(0);
    const done = await node.publications.publish({ version, nowSecs: NOW, events });
    if (done !== "changed") return done.queued;
  }
}

describe.skipIf(!HAS_POSTGRES)("three nodes at once", () => {
  test("that publish the same events queue each delivery once", async () => {
    await using all = await openNodes();
    const hooks: string[] = [];
    for (let n = 0; n < 3; n += 1) hooks.push(await all.addWebhook(n));
    for (let round = 0; round < ROUNDS; round += 1) {
      const events = eventsOf(round * 300, 300, hooks);
      const queued = await Promise.all(
        all.nodes.map(async (node, at) => {
          let sum = 0;
          // Batches of different sizes and orders, as nodes that lag differently make them.
          const own = at === 2 ? events.toReversed() : events;
          const size = [50, 70, 30][at] ?? 50;
          for (let from = 0; from < own.length; from += size)
            sum += await publish(node, own.slice(from, from + size));
          return sum;
        }),
      );
      expect(queued.reduce((sum, one) => sum + one)).toBe(events.length * hooks.length);
    }
    expect(await all.database.rows("deliveries")).toBe(ROUNDS * 300 * hooks.length);
    expect(await wrongCounts(all.database)).toEqual([]);
  });

  test("that publish, claim, settle, replay, sweep, change and delete leave counts that are those of the rows", async () => {
    await using all = await openNodes();
    const hooks: string[] = [];
    for (let n = 0; n < 6; n += 1) hooks.push(await all.addWebhook(n));
    let events = 0;
    let random = 1;
    const next = (below: number) => {
      random = (random * 48_271) % 2_147_483_647;
      return random % below;
    };
    const claimed: { readonly node: Node; readonly deliveries: readonly ClaimedDelivery[] }[] = [];
    const verdicts: Verdict[] = [
      { kind: "delivered" },
      { kind: "delivered" },
      { kind: "retry", dueAtMs: NOW_MS },
      { kind: "failed" },
      { kind: "gone" },
    ];
    const act = async (node: Node): Promise<unknown> => {
      const webhookId = hooks[next(hooks.length)] ?? "";
      const owner = { id: webhookId, ownerFid: 3, nowSecs: NOW };
      switch (next(10)) {
        case 0:
        case 1:
          events += 5;
          return publish(node, eventsOf(events - 5 - next(10), 10, hooks));
        case 2:
        case 3:
        case 4: {
          const limit = { calls: 1_000, windowMs: 60_000, maxWaitMs: 900_000 };
          const lease = { nowMs: NOW_MS, leaseEndsAtMs: NOW_MS + 40_000, maxRetryDelayMs: 3_600_000 };
          const found = await node.queue.claim({
            webhookId,
            ...lease,
            limit,
            max: 1 + next(8),
            maxHoldMs: 0,
          });
          if (found && found.deliveries.length > 0) claimed.push({ node, deliveries: found.deliveries });
          return;
        }
        case 5:
        case 6: {
          const taken = claimed.splice(next(claimed.length + 1), 1)[0];
          if (!taken) return;
          const attempt = { atMs: NOW_MS, status: 200, error: null, durationMs: 1, responseText: "\0" };
          const settlements = taken.deliveries.map((delivery) => ({
            delivery,
            attempt,
            verdict: verdicts[next(verdicts.length)] ?? { kind: "failed" as const },
            holdUntilMs: null,
          }));
          return next(4) === 0
            ? taken.node.queue.unclaim(taken.deliveries)
            : taken.node.queue.settle(settlements, rule);
        }
        case 7: {
          const page = { after: undefined, max: 5, nowMs: NOW_MS };
          return node.deliveryLog.replayRange(owner, { fromSecs: 0, toSecs: NOW }, page);
        }
        case 8:
          return node.webhooks.update(owner, { active: true });
        default: {
          const sweep = node.sweeps[next(node.sweeps.length)];
          return next(20) === 0 ? node.webhooks.delete(owner) : sweep?.step(20);
        }
      }
    };
    const steps = IS_LONG ? 2_000 : 75;
    // Ended deliveries are a week old for the sweeps.
    all.clock.setSecs(NOW + WEEK + 120);
    await Promise.all(
      all.nodes.flatMap((node) =>
        [0, 1].map(async () => {
          for (let step = 0; step < steps; step += 1) await act(node);
        }),
      ),
    );
    expect(events).toBeGreaterThan(50);
    expect(await wrongCounts(all.database)).toEqual([]);
  });
});
