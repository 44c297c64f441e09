import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { createLocalStores } from "../../../src/node/state/sqlite-stores.ts";
import type { CampaignWork } from "../../../src/push/store/campaigns/campaign-store.ts";
import type { Verdict } from "../../../src/webhooks/store/delivery-queue.ts";
import { UNTRIED } from "../../../src/webhooks/store/webhook-store.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { takeCampaign } from "../../support/campaigns.ts";
import { JumpingClock } from "../../support/jumping-clock.ts";
import { tempDir } from "../../support/program.ts";

/** Nothing is lost, repeated or omitted when the machine's clock jumps by two days and back. */

const START = 1_750_000_000;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const JUMP = 2 * DAY;
const WINDOW = 300;

let dir: ReturnType<typeof tempDir>;
let db: StateDatabase;
let clock: JumpingClock;
let stores: ReturnType<typeof createLocalStores>;

function open(): void {
  db = openState(statePath(dir.path));
  db.syncCommits = () => undefined;
  db.sqlite.exec("PRAGMA synchronous = OFF");
  const { monotonicMs } = clock;
  stores = createLocalStores(db, { limits: { maxQueued: 100 }, clock, monotonicMs });
}
beforeEach(() => {
  dir = tempDir();
  clock = new JumpingClock(START);
  open();
});
afterEach(() => {
  db[Symbol.dispose]();
  dir[Symbol.dispose]();
});

/** The process ends and another one starts, with its own monotonic time. */
function restart(): void {
  db[Symbol.dispose]();
  open();
}

const rows = (table: string) =>
  db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n;

/** Sweeps each minute, like the maintenance; over more than an hour each tenth minute, which deletes the same rows. */
async function passWithSweeps(secs: number): Promise<void> {
  const step = secs > HOUR ? 10 * MINUTE : MINUTE;
  for (let passed = 0; passed < secs; passed += step) {
    clock.pass(step);
    for (const sweep of stores.sweeps) while ((await sweep.step(500)).more);
  }
}

/** Errors of the clock before it is right again, in seconds. */
const EXCURSIONS: readonly (readonly [string, number, (secs: number) => Promise<void>])[] = [
  ["forward and back within minutes", JUMP, passWithSweeps],
  ["back and forward within minutes", -JUMP, passWithSweeps],
  [
    "forward and back over restarts",
    JUMP,
    async (secs) => {
      restart();
      await passWithSweeps(secs);
      restart();
    },
  ],
];

async function excursion(
  jumpSecs: number,
  pass: (secs: number) => Promise<void>,
  secs = 5 * MINUTE,
): Promise<void> {
  clock.jump(jumpSecs);
  await pass(secs);
  clock.jump(-jumpSecs);
}

describe("a nonce", () => {
  const spend = (signedAt: number, n = 1) => {
    const nowSecs = clock.nowSecs();
    if (Math.abs(nowSecs - signedAt) > WINDOW) throw new Error("the window does not let it pass");
    const times = { nowSecs, validUntil: signedAt + WINDOW, expiresAt: nowSecs + 2 * WINDOW };
    return stores.nonces.spend({ fid: 3, nonce: new Uint8Array(32).fill(n) }, times);
  };

  test.each(EXCURSIONS)(
    "that was spent stays spent when the clock goes %s",
    async (_what, jumpSecs, pass) => {
      expect(await spend(START)).toBe(true);
      await excursion(jumpSecs, pass, 4 * MINUTE);
      expect(await spend(START)).toBe(false);
      expect(await spend(clock.nowSecs(), 2)).toBe(true);
    },
  );

  test("stays spent when a wrong clock was accepted and its row is deleted, and new ones are soon accepted", async () => {
    expect(await spend(START)).toBe(true);
    clock.jump(JUMP);
    await passWithSweeps(2 * HOUR);
    expect(rows("nonces")).toBe(0);
    clock.jump(-JUMP - 2 * HOUR);
    restart();
    expect(await spend(START)).toBe(false);
    expect(await spend(START, 7)).toBe(false);
    clock.pass(2 * WINDOW + 1);
    expect(await spend(clock.nowSecs(), 8)).toBe(true);
  });

  test("stays spent when the clock was slow, is right again, and is slow once more", async () => {
    clock.jump(-JUMP);
    const signedAt = clock.nowSecs();
    expect(await spend(signedAt)).toBe(true);
    clock.jump(JUMP);
    await passWithSweeps(2 * HOUR);
    clock.jump(-JUMP - 2 * HOUR);
    expect(await spend(signedAt)).toBe(false);
  });
});

describe("a secret", () => {
  test.each(EXCURSIONS)(
    "lives to the end of its grace period when the clock goes %s",
    async (_what, jumpSecs, pass) => {
      await stores.webhooks.create({ ...webhook("hook"), secrets: [makeSecret(1)] }, 10);
      const claim = { id: "hook", ownerFid: 3, nowSecs: clock.nowSecs() };
      const rotation = { secret: makeSecret(2), graceEndsAt: START + DAY, maxSecrets: 10 };
      await stores.webhooks.rotateSecret(claim, rotation);
      await excursion(jumpSecs, pass);
      // A rotation at the wrong time deletes nothing either.
      clock.jump(JUMP);
      await stores.webhooks.rotateSecret(
        { ...claim, nowSecs: clock.nowSecs() },
        { ...rotation, secret: makeSecret(3) },
      );
      clock.jump(-JUMP);
      expect((await stores.webhooks.find("hook", clock.nowSecs()))?.secrets).toHaveLength(3);
    },
  );
});

describe("a notification", () => {
  const tokens = [{ fid: 1, clientFid: 9 }];
  const success = [{ fid: 1, clientFid: 9, kind: "success", reason: "", isRetryable: false }] as const;

  let running: CampaignWork[] = [];
  beforeEach(() => {
    running = [];
  });

  async function campaign(campaignId: string) {
    await stores.campaigns.create(
      {
        campaignId,
        appId: "app",
        notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
        audience: { targetFids: [], excludeFids: [], followingFid: null },
        createdAt: clock.nowSecs(),
        ledgerSecs: DAY,
      },
      100,
    );
    const work = await takeCampaign(stores.campaigns, campaignId, { nowSecs: clock.nowSecs(), running });
    running.push(work);
    return work;
  }

  test.each(EXCURSIONS)("is sent once when the clock goes %s", async (_what, jumpSecs, pass) => {
    const first = await campaign("first");
    await stores.ledger.claim(first, tokens, 30);
    await stores.ledger.record(first, "host", { tokens, outcomes: success }, DAY);
    await stores.campaigns.end(first, "completed", clock.nowSecs());
    // Neither while the clock is wrong nor afterwards.
    clock.jump(jumpSecs);
    const meanwhile = await campaign("meanwhile");
    expect((await stores.ledger.claim(meanwhile, tokens, 30)).conflicting).toHaveLength(1);
    await stores.campaigns.end(meanwhile, "completed", clock.nowSecs());
    clock.jump(-jumpSecs);
    await excursion(jumpSecs, pass);
    const second = await campaign("second");
    expect((await stores.ledger.claim(second, tokens, 30)).conflicting).toHaveLength(1);
    await stores.campaigns.end(second, "completed", clock.nowSecs());
    await passWithSweeps(DAY + HOUR);
    expect((await stores.ledger.claim(await campaign("third"), tokens, 30)).claimed).toHaveLength(1);
  });

  test.each([JUMP, -JUMP])(
    "a claim holds for its lease in real time when the clock jumps by %d s",
    async (secs) => {
      const [first, second] = [await campaign("first"), await campaign("second")];
      await stores.ledger.claim(first, tokens, 30);
      clock.jump(secs);
      clock.pass(29);
      expect((await stores.ledger.claim(second, tokens, 30)).conflicting).toHaveLength(1);
      clock.pass(1);
      expect((await stores.ledger.claim(second, tokens, 30)).claimed).toHaveLength(1);
    },
  );

  test("an unfinished campaign does not become too old by a jump", async () => {
    await campaign("left behind");
    clock.jump(JUMP);
    restart();
    const isLedgerExpired = async () =>
      (await takeCampaign(stores.campaigns, "left behind", { nowSecs: clock.nowSecs() })).isLedgerExpired;
    expect(await isLedgerExpired()).toBe(false);
    await passWithSweeps(DAY);
    expect(await isLedgerExpired()).toBe(true);
  });
});

describe("the limit of token changes", () => {
  test.each([JUMP, -JUMP])("counts real time when the clock jumps by %d s", async (secs) => {
    await stores.apps.create(
      { ...owned(), appId: "app", name: "A", appUrl: "https://a.example", signerFidAllowlist: [] },
      10,
    );
    const limit = { maxChanges: 1, windowSecs: HOUR };
    const change = () =>
      stores.tokens.apply(
        {
          appId: "app",
          fid: 1,
          clientFid: 9,
          event: { name: "notifications_disabled" },
          nowSecs: clock.nowSecs(),
        },
        limit,
      );
    expect(await change()).toBe("applied");
    clock.jump(secs);
    expect(await change()).toEqual({ retryAfterSecs: HOUR });
    await passWithSweeps(HOUR - MINUTE);
    expect(await change()).toEqual({ retryAfterSecs: MINUTE });
    clock.pass(MINUTE);
    expect(await change()).toBe("applied");
  });
});

describe("a webhook delivery", () => {
  const HOOK = "hook";
  const limit = { calls: 2, windowMs: 60_000, maxWaitMs: 15 * 60_000 };
  const rule = { failures: 3, runSecs: DAY };

  beforeEach(async () => {
    await stores.webhooks.create(webhook(HOOK), 10);
  });

  async function publish(count: number): Promise<void> {
    const { version } = await stores.publications.changesSince(0);
    const nowSecs = clock.nowSecs();
    const events = Array.from({ length: count }, (_, n) => ({
      eventId: `${n}`,
      kind: "cast.created" as const,
      createdAt: nowSecs,
      body: `${n}`,
      webhookIds: [HOOK],
    }));
    await stores.publications.publish({ version, nowSecs, events });
  }
  const claim = () => {
    const nowMs = clock.nowMs();
    const lease = { leaseEndsAtMs: nowMs + 40_000, maxRetryDelayMs: HOUR * 1000 };
    return stores.queue.claim({ webhookId: HOOK, nowMs, ...lease, limit, max: 1, maxHoldMs: 0 });
  };
  const take = async () => {
    const delivery = (await claim())?.deliveries[0];
    if (!delivery) throw new Error("nothing is due");
    return delivery;
  };
  const attempt = () => ({ atMs: clock.nowMs(), status: 500, error: null, durationMs: 5, responseText: "" });
  const settle = async (
    delivery: Awaited<ReturnType<typeof take>>,
    outcome: Verdict,
    holdUntilMs: number | null = null,
  ) => {
    const [reason] = await stores.queue.settle(
      [{ delivery, attempt: attempt(), verdict: outcome, holdUntilMs }],
      rule,
    );
    return reason;
  };

  test("is claimed at once when it was scheduled in what is now the future, and an attempt in flight retains its lease", async () => {
    clock.jump(JUMP);
    await publish(2);
    await settle(await take(), { kind: "retry", dueAtMs: clock.nowMs() + 5_000 });
    const underWay = await take();
    clock.jump(-JUMP);
    // After the rate limit, and after the intended end of the lease.
    clock.pass(62);
    const again = await take();
    expect([again.body, again.attempts]).toEqual(["0", 1]);
    expect((await claim())?.deliveries[0]).toBeUndefined();
    expect(await settle(underWay, { kind: "delivered" })).toBeUndefined();
    await settle(again, { kind: "delivered" });
    expect(await stores.deliveryLog.totals()).toMatchObject({ queued: 0, delivered: 2 });
  });

  test("a receiver's requested backoff does not grow to days", async () => {
    await publish(2);
    clock.jump(JUMP);
    await settle(await take(), { kind: "delivered" }, clock.nowMs() + 10 * MINUTE * 1000);
    expect((await claim())?.deliveries[0]).toBeUndefined();
    clock.jump(-JUMP);
    expect((await take()).body).toBe("1");
  });

  test.each([JUMP, -JUMP])("the rate limit holds in real time when the clock jumps by %d s", async (secs) => {
    await publish(5);
    await settle(await take(), { kind: "delivered" });
    await settle(await take(), { kind: "delivered" });
    clock.jump(secs);
    const refused = await claim();
    expect(refused?.deliveries).toEqual([]);
    const waitMs = (refused?.nextAtMs ?? 0) - clock.nowMs();
    expect(waitMs).toBeWithin(55_000, 62_001);
    clock.pass(62);
    expect((await take()).body).toBe("2");
  });

  test("is not dropped because of a jump while it waits for the rate limit, only after the longest wait", async () => {
    await publish(5);
    for (let n = 0; n < 2; n += 1) await settle(await take(), { kind: "delivered" });
    expect(await claim()).toMatchObject({ deliveries: [], dropped: 0 });
    clock.jump(JUMP);
    expect(await claim()).toMatchObject({ deliveries: [], dropped: 0 });
    clock.jump(-JUMP);
    clock.pass(62);
    expect((await take()).body).toBe("2");
  });

  test("stays readable after it has finished, and its webhook is not deactivated for an apparent run of failures of two days", async () => {
    await publish(5);
    for (let n = 0; n < 4; n += 1) {
      clock.pass(62);
      if (n === 3) clock.jump(8 * DAY);
      await settle(await take(), { kind: "failed" });
    }
    await passWithSweeps(10 * MINUTE);
    clock.jump(-8 * DAY);
    await passWithSweeps(10 * MINUTE);
    const { deliveryLog, webhooks } = stores;
    const failed = { webhookId: HOOK, state: "failed", after: undefined, max: 9 } as const;
    expect((await deliveryLog.list(failed)).deliveries).toHaveLength(4);
    expect((await webhooks.find(HOOK, clock.nowSecs()))?.active).toBe(true);
  });
});

function owned() {
  return { ownerFid: 3, description: null, secrets: [], createdAt: START, updatedAt: START };
}

function webhook(webhookId: string) {
  return {
    ...owned(),
    webhookId,
    title: "T",
    targetUrl: "https://hook.example",
    active: true,
    subscription: { "cast.created": {} },
    compatPrefix: null,
    health: UNTRIED,
  };
}
