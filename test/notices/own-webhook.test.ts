import { expect, test } from "bun:test";
import { createOwnerChecks } from "../../src/checks/owners/owner-checks.ts";
import { operatorReport } from "../../src/checks/report.ts";
import { openStateInMemory } from "../../src/db/state/database.ts";
import { createOwnerNotices } from "../../src/notices/owner-notices.ts";
import { noticesRpc } from "../../src/notices/rpc.ts";
import { UNTRIED } from "../../src/webhooks/store/webhook-store.ts";
import { configWith } from "../runtime/config.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";
import { localStores } from "../support/state-stores.ts";
import { fixtureOf, T0 } from "./notices-contract.ts";

const actor = (fid: number) => ({
  fid,
  custody: new Uint8Array(20).fill(fid),
  apiKeyId: null,
  requestId: "request",
  address: "192.0.2.1",
});

/** Publishes an event for a webhook, and settles its delivery as the delivery thread does after a call. */
async function deliver(
  { publications, queue }: ReturnType<typeof localStores>,
  { n, webhookId, atSecs, failed }: { n: number; webhookId: string; atSecs: number; failed: boolean },
): Promise<void> {
  const nowMs = atSecs * 1000;
  const { version } = await publications.changesSince(0);
  const event = {
    ...{ eventId: `${webhookId}-${n}`, kind: "cast.created" as const, createdAt: atSecs, body: "{}" },
    webhookIds: [webhookId],
  };
  await publications.publish({ version, nowSecs: atSecs, events: [event] });
  const claimed = await queue.claim({
    ...{ webhookId, nowMs, leaseEndsAtMs: nowMs + 40_000, maxRetryDelayMs: 1, max: 1, maxHoldMs: 0 },
    limit: { calls: 1000, windowMs: 60_000, maxWaitMs: 900_000 },
  });
  const delivery = claimed?.deliveries[0];
  if (!delivery) throw new Error("nothing to deliver");
  const attempt = {
    ...{ atMs: nowMs, status: failed ? 500 : 200, error: null, durationMs: 5, responseText: "" },
  };
  const verdict = { kind: failed ? "failed" : "delivered" } as const;
  await queue.settle([{ delivery, attempt, verdict, holdUntilMs: null }], {
    failures: 1000,
    runSecs: 86_400,
  });
}

test("an owner's hook is called when their own webhook fails and when it works again, and never for that of another owner", async () => {
  const db = openStateInMemory();
  const stateClock = new ManualClock(T0);
  const stores = localStores(db, { clock: stateClock });
  const open = async () => ({
    incidents: stores.incidents,
    store: stores.notices,
    audit: stores.audit,
    findings: stores.ownerFindings,
    custodies: stores.custodies,
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  });
  await using fixture = await fixtureOf(open, "");
  const { notices, service, clock, hooked } = fixture;
  const owners = createOwnerNotices({
    node: noticesRpc(notices, { maxOfOwner: () => 5, clock }),
    incidents: stores.incidents,
    findings: stores.ownerFindings,
    thresholds: configWith().checks,
    clock,
  });
  const checks = createOwnerChecks({
    findings: stores.ownerFindings,
    keyFacts: { of: () => undefined },
    isBehind: () => false,
    keyTtlSecs: 90 * 86_400,
    settings: { off: [] },
    incidents: stores.incidents,
    lease: undefined,
    clock,
    log: silentLog,
  });
  for (const fid of [3, 4]) {
    await stores.webhooks.create(
      {
        ...{ webhookId: `hook-${fid}`, ownerFid: fid, title: "T", description: null, active: true },
        targetUrl: `https://receiver-${fid}.example/events`,
        ...{ subscription: { "cast.created": {} }, compatPrefix: null, health: UNTRIED, secrets: [] },
        ...{ createdAt: T0, updatedAt: T0 },
      },
      10,
    );
    const body = { label: "pager", hook: { url: `${service.hooks}/owner-${fid}` } };
    expect(await owners.create(actor(fid), body)).toMatchObject({ ok: true });
  }
  let n = 0;
  const next = async (failed: boolean) => {
    clock.advanceSecs(180);
    n += 1;
    const atSecs = Math.floor(clock.nowMs() / 1000);
    stateClock.setSecs(atSecs);
    await deliver(stores, { n, webhookId: "hook-3", atSecs, failed });
    await deliver(stores, { n, webhookId: "hook-4", atSecs, failed: false });
    await checks.evaluate();
    await notices.run();
  };
  for (let failure = 0; failure < 4; failure++) await next(true);
  expect(service.requests).toEqual([]);
  await next(true);
  expect(service.requests.map(({ path }) => path)).toEqual(["/owner-3"]);
  expect(hooked()[0]).toMatchObject({
    check: "webhook_failing",
    text: expect.stringContaining(
      "Deliveries of webhook hook-3 to receiver-3.example fail: 5 of the last 5 when this opened. Last failure: 500.",
    ),
    // The node does not know its own URL.
    url: "/console/manage/webhooks/hook-3",
  });
  expect((await owners.incidents(3))[0]?.resolution).toEndWith(": 0 / 10.");
  // The operator reads the same of it.
  const context = {
    nowSecs: Math.floor(clock.nowMs() / 1000),
    watchedSince: 0,
    thresholds: configWith().checks,
  };
  const asOperator = await operatorReport(stores.incidents, { ...context, findings: stores.ownerFindings });
  expect(asOperator.incidents).toMatchObject([
    { owner_fid: 3, resolution: (await owners.incidents(3))[0]?.resolution },
  ]);
  for (let success = 0; success < 5; success++) await next(false);
  // What was delivered is counted in steps of five minutes, from the one after the last failure on.
  expect((await owners.incidents(3))[0]?.resolution).toMatch(
    /^Resolves after 10 successes in a row, or one and a day without a failure: [3-5] \/ 10\.$/,
  );
  for (let success = 5; success < 12; success++) await next(false);
  expect(service.requests.map(({ path }) => path)).toEqual(["/owner-3", "/owner-3"]);
  expect(hooked()[1]).toMatchObject({ type: "incident.resolved", title: "svc: Resolved: Webhook failing" });
  expect(await owners.incidents(3)).toMatchObject([{ state: "resolved", resolution: null }]);
  expect(await owners.incidents(4)).toEqual([]);
});
