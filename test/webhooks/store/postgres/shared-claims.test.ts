import { describe, expect, test } from "bun:test";
import { pgStatement } from "../../../../src/db/postgres/statement.ts";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import { ManualClock } from "../../../support/clock.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { LEASE_MS, NOW, NOW_MS, plenty, rule } from "../delivery-fixture.ts";
import { webhookItems } from "../webhook-items.ts";

const HOOK = "webhook-1";
const lockQueues = pgStatement(
  "test.lock-queues",
  "SELECT 1 AS locked FROM webhook_health FOR NO KEY UPDATE",
);
const delivered = {
  attempt: { atMs: NOW_MS, status: 200, error: null, durationMs: 5, responseText: "ok" },
  verdict: { kind: "delivered" },
  holdUntilMs: null,
} as const;

/** Two processes and a webhook with 20 deliveries. */
async function start() {
  const database = await createDatabase();
  const processes = [0, 1].map(() => {
    const options = {
      node: database.node(),
      clock: steadyClock(new ManualClock(NOW)),
      limits: { maxQueued: 100 },
    };
    const stores = createPostgresStores(database.pools(), options);
    const claim = async (max: number, nowMs = NOW_MS) => {
      const lease = { nowMs, leaseEndsAtMs: nowMs + LEASE_MS, maxRetryDelayMs: 3_600_000 };
      const claimed = await stores.queue.claim({
        webhookId: HOOK,
        ...lease,
        limit: plenty,
        max,
        maxHoldMs: 0,
      });
      return claimed ?? { deliveries: [], nextAtMs: null, dropped: 0 };
    };
    return { ...stores, claim };
  });
  const [one, other] = processes;
  if (!one || !other) throw new Error("two processes");
  await one.webhooks.create(
    webhookItems.makeItem(1, { ownerFid: 3, secrets: [], createdAt: NOW, updatedAt: NOW }),
    10,
  );
  const { version } = await one.publications.changesSince(0);
  const events = Array.from({ length: 20 }, (_, n) => ({
    eventId: `event-${n}`,
    kind: "cast.created" as const,
    createdAt: NOW,
    body: "{}",
    webhookIds: [HOOK],
  }));
  await one.publications.publish({ version, nowSecs: NOW, events });
  return { database, one, other, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

describe.skipIf(!HAS_POSTGRES)("two processes that claim deliveries of one webhook", () => {
  test("have leases for four calls together", async () => {
    await using state = await start();
    const { one, other } = state;
    const first = await one.claim(3);
    expect(first.deliveries).toHaveLength(3);
    expect((await other.claim(9)).deliveries).toHaveLength(1);
    const full = await one.claim(9);
    expect([full.deliveries, full.nextAtMs]).toEqual([[], NOW_MS + 25]);
    await one.queue.settle(
      first.deliveries.slice(0, 2).map((delivery) => ({ delivery, ...delivered })),
      rule,
    );
    expect((await other.claim(9)).deliveries).toHaveLength(2);
  });

  test("leave it to one of them while that has more than four", async () => {
    await using state = await start();
    const { one, other } = state;
    expect((await one.claim(8)).deliveries).toHaveLength(8);
    expect((await other.claim(9)).deliveries).toHaveLength(0);
    expect((await one.claim(2)).deliveries).toHaveLength(2);
    // An expired lease is not a call.
    expect((await other.claim(9, NOW_MS + LEASE_MS)).deliveries).toHaveLength(9);
  });

  test("do not wait for each other", async () => {
    await using state = await start();
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = state.database.pools().main.transaction(async (tx) => {
      await tx.all(lockQueues);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    const busy = await state.other.claim(1);
    expect([busy.deliveries, busy.nextAtMs]).toEqual([[], NOW_MS + 20]);
    release.resolve();
    await holding;
    expect((await state.other.claim(1)).deliveries).toHaveLength(1);
  });
});
