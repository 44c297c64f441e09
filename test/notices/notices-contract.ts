import { expect, test } from "bun:test";
import type { AuditStore } from "../../src/audit/audit-store.ts";
import type { CustodyStore } from "../../src/auth/owners/custody-store.ts";
import { FLAP_SECS, type IncidentStore, REMIND_SECS } from "../../src/checks/incident-store.ts";
import type { OwnerFindings } from "../../src/checks/owners/owner-findings.ts";
import { createOutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import { createNotices } from "../../src/notices/notices.ts";
import type { ChannelRequest } from "../../src/notices/report.ts";
import { MAX_CHANNELS, type NoticeStore } from "../../src/notices/store/notice-store.ts";
import { resealNotices } from "../../src/notices/target.ts";
import { readMasterKey } from "../../src/vault/master-key.ts";
import { createSealer } from "../../src/vault/sealer.ts";
import { verifyDelivery } from "../../src/webhooks/deliver/sign.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";
import { until } from "../support/manual-time.ts";
import { ownersBy } from "../support/owners.ts";
import { createBrowser, startPushService, vapidClaims } from "./push-service.ts";

export interface NoticeFixture extends AsyncDisposable {
  readonly incidents: IncidentStore;
  readonly store: NoticeStore;
  readonly audit: Pick<AuditStore, "list">;
  readonly findings: OwnerFindings;
  readonly custodies: CustodyStore;
}

export const T0 = 1_800_000_000;
const masterKey = (digit: string) => readMasterKey(digit.repeat(64));
const sealerOf = (...digits: string[]) => {
  const [current, ...former] = digits.map(masterKey);
  return current && createSealer([current, ...former], "svc notice 1");
};

/** Nodes of one state with a push service, a hook and a clock. */
export async function fixtureOf(open: () => Promise<NoticeFixture>, publicUrl = "https://node.example") {
  const state = await open();
  const service = startPushService();
  const clock = new ManualClock(T0);
  /** What happens while a name is looked up. */
  const lookUps = { before: () => {} };
  const guard = createUrlGuard({
    allowCidrs: ["127.0.0.0/8"],
    allowHttp: false,
    async resolve(name) {
      lookUps.before();
      return name.startsWith("private.") ? ["10.0.0.1"] : ["127.0.0.1"];
    },
  });
  const { incidents, store } = state;
  /** The custody of each fid, as last set. */
  const custodies = new Map<number, Uint8Array>();
  const upstream = { isBehind: false };
  const custodyOf = (fid: number) => custodies.get(fid) ?? new Uint8Array(20).fill(fid);
  const start = (sealer = sealerOf()) =>
    createNotices({
      store,
      client: createOutboundClient({ guard, ca: service.ca }),
      guard,
      owners: ownersBy(custodyOf),
      isBehind: () => upstream.isBehind,
      sealer,
      pushHosts: ["push.example", "*.push.example", "private.example"],
      sender: { userAgent: "svc/1", signatureHeader: "X-Svc-Signature", replayHeader: "X-Svc-Replay" },
      service: "svc",
      publicUrl,
      contact: "mailto:ops@node.example",
      clock,
      log: silentLog,
    });
  const notices = start();
  const browser = await createBrowser();
  const subscribe = (more: Partial<ChannelRequest> = {}) =>
    notices.add({
      kind: "push",
      label: "phone",
      endpoint: `${service.origin}/send/a`,
      keys: browser.keys,
      ...more,
    } as ChannelRequest);
  const messages = async () =>
    Promise.all(service.requests.map(async ({ body }) => JSON.parse(await browser.decrypt(body))));
  return {
    ...{
      state,
      service,
      clock,
      lookUps,
      custodies,
      custodyOf,
      upstream,
      incidents,
      store,
      start,
      notices,
      browser,
      subscribe,
      messages,
    },
    channels: async () => (await notices.report()).channels,
    titles: async () => (await messages()).map(({ title }) => title),
    hooked: () => service.requests.map(({ body }) => JSON.parse(Buffer.from(body).toString())),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

type Opening = Parameters<IncidentStore["open"]>[0];
export const opening = (id: string, more: Partial<Opening> = {}): Opening => ({
  incidentId: id,
  checkId: "disk_fills_up",
  nodeId: "a",
  severity: "critical",
  sentence: `The disk of ${id} is full.`,
  ...more,
});
export const hook = (service: { readonly hooks: string }, more: Partial<ChannelRequest> = {}) =>
  ({ kind: "hook", label: "pager", url: `${service.hooks}/page`, preset: "json", ...more }) as ChannelRequest;

/** The guarantees of notices, over any implementation of their store. */
export function noticesContract(open: () => Promise<NoticeFixture>): void {
  test("a hook that fails is called again when its time has come, however many notices come meanwhile; a test calls it at once", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, service, hooked } = fixture;
    const added = await notices.add(hook(service));
    service.service.status = 500;
    const calls: number[] = [];
    for (let secs = 0; secs < 200; secs += 5) {
      clock.setSecs(T0 + secs);
      await incidents.open(opening(`i${secs}`, { nodeId: `n${secs}` }), T0 + secs);
      const before = service.requests.length;
      await notices.run();
      if (service.requests.length > before) calls.push(secs);
    }
    const waits = calls.slice(1).map((secs, at) => secs - (calls[at] ?? 0));
    expect(calls[0]).toBe(0);
    expect(waits.length).toBeWithin(1, 4);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(15);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    service.service.status = 200;
    await notices.test(added.ok ? added.value.id : "");
    await notices.run();
    expect(hooked().at(-1)).toMatchObject({ type: "incident.digest" });
    expect((await notices.report()).channels).toMatchObject([{ last_error: null }]);
  });

  test("a hook that does not respond delays no notice to others, also of a later incident", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, store, service } = fixture;
    const hanging = Promise.withResolvers<void>();
    service.service.hangs = hanging.promise;
    const called = () => service.requests.map(({ path }) => path).toSorted();
    const others = MAX_CHANNELS - 1;
    const paths = ["/works", ...new Array<string>(others).fill("/hangs")];
    for (const path of paths)
      await notices.add(hook(service, { url: `${service.hooks}${path}` } as Partial<ChannelRequest>));
    await incidents.open(opening("i1"), T0);
    const first = notices.run();
    await until(() => called().length === paths.length);
    clock.advanceSecs(1);
    await incidents.open(opening("i2", { checkId: "index_behind" }), T0 + 1);
    await notices.run();
    await until(() => called().length === paths.length + 1);
    expect(called().slice(others)).toEqual(["/works", "/works"]);
    hanging.resolve();
    await first;
    expect((await store.list()).filter(({ leasedUntil }) => leasedUntil !== 0)).toEqual([]);
    expect(notices.stats()).toEqual({
      push: { sent: 0, failed: 0, retried: 0 },
      hook: { sent: 2 * paths.length, failed: 0, retried: 0 },
    });
  });

  test("a channel that is added, or that gets more from now on, gets what is open once, and no other channel gets it again", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, service } = fixture;
    const path = (name: string) => ({ url: `${service.hooks}/${name}` }) as Partial<ChannelRequest>;
    const calledWith = () =>
      service.requests.map((request) => {
        const { incident, state } = JSON.parse(Buffer.from(request.body).toString());
        return `${request.path} ${incident} ${state}`;
      });
    await notices.add(hook(service, { ...path("first"), severity: "notice" }));
    await incidents.open(opening("i1"), T0);
    await incidents.open(opening("i2", { checkId: "index_behind", severity: "warning" }), T0);
    await incidents.open(opening("i3", { checkId: "cannot_write" }), T0);
    await incidents.open(opening("i4", { checkId: "index_full" }), T0);
    await notices.run();
    await incidents.resolve("cannot_write", "a", T0 + 1);
    await incidents.mute("i4", T0 + 86_400);
    await incidents.acknowledge("i1", "ann@host", null, T0 + 1);
    clock.advanceSecs(2);
    // It has not been sent to anyone yet.
    await incidents.open(opening("i5", { checkId: "postgres_away" }), T0 + 2);
    service.requests.length = 0;
    const added = await notices.add(hook(service, path("second")));
    await notices.run();
    expect(calledWith().toSorted()).toEqual([
      "/first i3 resolved",
      "/first i5 open",
      "/second i1 open",
      "/second i5 open",
    ]);
    clock.advanceSecs(60);
    await notices.run();
    expect(service.requests).toHaveLength(4);
    service.requests.length = 0;
    const { id } = added.ok ? added.value : { id: "" };
    await notices.edit(id, { label: "all", severity: "warning" });
    await notices.edit(id, { label: "all of them" });
    await notices.run();
    expect(calledWith()).toEqual(["/second i2 open"]);
  });

  test("a channel that is added, or that gets more, after the end of an incident does not get it; the others do", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, service, hooked } = fixture;
    const path = (name: string) => ({ url: `${service.hooks}/${name}` }) as Partial<ChannelRequest>;
    const calledWith = () =>
      hooked()
        .map(({ incident, type }, at) => `${service.requests[at]?.path} ${incident} ${type}`)
        .toSorted();
    await notices.add(hook(service, { ...path("first"), severity: "notice" }));
    const narrow = await notices.add(hook(service, path("second")));
    await incidents.open(opening("i1", { severity: "warning" }), T0);
    await notices.run();
    expect(calledWith()).toEqual(["/first i1 incident.open"]);
    service.requests.length = 0;
    clock.advanceSecs(60);
    await incidents.resolve("disk_fills_up", "a", T0 + 60);
    // In the second of the end, and before the next look.
    await notices.edit(narrow.ok ? narrow.value.id : "", { label: "wider", severity: "warning" });
    await notices.add(hook(service, { ...path("third"), severity: "warning" }));
    await notices.run();
    expect(calledWith()).toEqual(["/first i1 incident.resolved"]);
    await incidents.open(opening("i2", { nodeId: "b" }), T0 + 60);
    await notices.add(hook(service, path("fourth")));
    await incidents.resolve("disk_fills_up", "b", T0 + 60);
    await notices.run();
    // No channel got its opening.
    expect(service.requests).toHaveLength(1);
  });

  test("a channel that is added while others get an incident gets it too, once", async () => {
    await using fixture = await fixtureOf(open);
    const { incidents, notices, service, store, clock } = fixture;
    for (let round = 0; round < 10; round++) {
      service.requests.length = 0;
      await incidents.open(opening(`i${round}`, { nodeId: `n${round}` }), T0);
      const [added] = await Promise.all([
        notices.add(hook(service, { label: `round ${round}` })),
        store.queue(T0),
      ]);
      await notices.run();
      const got = service.requests.filter(
        ({ body }) => JSON.parse(Buffer.from(body).toString()).incident === `i${round}`,
      );
      expect([round, got.length]).toEqual([round, 1]);
      await notices.remove(added.ok ? added.value.id : "");
      await incidents.resolve("disk_fills_up", `n${round}`, T0);
      await notices.run();
      clock.advanceSecs(3600);
    }
  });

  test("a channel is changed, and what waits for it is sent by the new terms, to the same target with the same secret", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, channels, service } = fixture;
    const added = await notices.add(
      hook(service, { severity: "notice", checks: ["disk_fills_up"], quiet_hours: "00:00-23:59" }),
    );
    const { id, secret } = added.ok ? added.value : { id: "", secret: "" };
    await incidents.open(opening("i1", { severity: "warning" }), T0);
    await notices.run();
    expect(service.requests).toEqual([]);
    for (const [terms, problem] of [
      [{ label: "" }, "label must have"],
      [{ label: "x", quiet_hours: "25:00-1" }, "quiet_hours must be"],
    ] as const)
      expect(await notices.edit(id, terms)).toEqual({ ok: false, error: expect.stringContaining(problem) });
    expect(await notices.edit("nobody", { label: "x" })).toEqual({ ok: false, error: null });
    expect(await notices.edit(id, { label: "night", severity: "critical", quiet_hours: "" })).toMatchObject({
      ok: true,
      value: { id },
    });
    expect(await channels()).toMatchObject([
      { id, label: "night", severity: "critical", checks: ["disk_fills_up"], quiet_hours: null },
    ]);
    clock.advanceSecs(24 * 3600);
    await notices.run();
    // What was queued by the terms before is sent; a further warning is not.
    const [request] = service.requests;
    expect(service.requests).toHaveLength(1);
    const verified = verifyDelivery(
      { headers: request?.headers ?? new Headers(), body: request?.body ?? new Uint8Array() },
      { secrets: [secret ?? ""], signatureHeader: "X-Svc-Signature", nowSecs: clock.nowMs() / 1000 },
    );
    expect(verified).toEqual({ own: 0, standard: 0, ageSecs: 0 });
  });

  test("check 21: a browser is notified once when an incident opens and once when it is resolved, over restarts and nodes", async () => {
    await using fixture = await fixtureOf(open);
    const { service, clock, incidents, start, notices, channels, subscribe, messages } = fixture;
    expect(await subscribe()).toMatchObject({ ok: true, value: { secret: null } });
    await incidents.open(opening("i1"), T0);
    const nodes = [notices, start(), start()];
    await Promise.all(nodes.map((node) => node.run()));
    await start().run();
    expect(await messages()).toEqual([
      {
        title: expect.stringMatching(/^svc: .+ \(critical\)$/),
        body: expect.stringMatching(/^The disk of i1 is full\. ./),
        tag: "i1",
        path: "/console/operator",
      },
    ]);
    const [request] = service.requests;
    expect(
      Object.fromEntries(
        ["ttl", "urgency", "topic", "content-encoding"].map((name) => [name, request?.headers.get(name)]),
      ),
    ).toEqual({
      ttl: "14400",
      urgency: "high",
      topic: "i1",
      "content-encoding": "aes128gcm",
    });
    const vapid = await vapidClaims(request?.headers.get("authorization") ?? "");
    expect(vapid).toMatchObject({
      claims: { aud: service.origin, sub: "mailto:ops@node.example", exp: T0 + 12 * 3600 },
      publicKey: await notices.pushKey(),
    });
    clock.advanceSecs(720);
    await incidents.resolve("disk_fills_up", "a", T0 + 720);
    await Promise.all(nodes.map((node) => node.run()));
    expect(await messages()).toMatchObject([
      {},
      { title: expect.stringContaining("Resolved"), body: expect.stringContaining("It lasted 12 min.") },
    ]);
    expect(await channels()).toMatchObject([
      { label: "phone", host: "push.example", last_at: T0 + 720, last_error: null },
    ]);
  });

  test("check 21: 404 and 410 end a subscription; other refusals stay, and other hosts and private addresses are never called", async () => {
    await using fixture = await fixtureOf(open);
    const { service, clock, incidents, notices, channels, browser, subscribe } = fixture;
    const refusals = [
      "https://elsewhere.example/x",
      "https://push.example.evil.example/x",
      "https://private.example/x",
      "http://push.example/x",
    ];
    for (const endpoint of refusals) {
      expect(await subscribe({ endpoint } as Partial<ChannelRequest>)).toMatchObject({ ok: false });
    }
    expect(await subscribe({ keys: { ...browser.keys, auth: "" } } as Partial<ChannelRequest>)).toMatchObject(
      { ok: false },
    );
    expect(await channels()).toEqual([]);
    await subscribe();
    await subscribe({ label: "the same phone" });
    expect(await channels()).toMatchObject([{ label: "the same phone" }]);
    service.service.status = 403;
    await incidents.open(opening("i1"), T0);
    await notices.run();
    expect(await channels()).toMatchObject([{ last_error: "the response was 403" }]);
    for (const status of [410, 404]) {
      await subscribe();
      service.service.status = status;
      clock.advanceSecs(60);
      await incidents.open(opening(`i${status}`, { nodeId: String(status) }), T0);
      await notices.run();
      expect(await channels()).toEqual([]);
    }
    expect(service.requests).toHaveLength(3);
  });

  test("a hook is signed as webhooks are, tried again under the same id, and given up after five attempts", async () => {
    await using fixture = await fixtureOf(open);
    const { service, clock, incidents, notices, channels } = fixture;
    const added = await notices.add(hook(service));
    const secret = (added.ok && added.value.secret) || "";
    service.service.status = 503;
    await incidents.open(opening("i1"), T0);
    await notices.run();
    await notices.run();
    expect(service.requests).toHaveLength(1);
    service.service.status = 200;
    clock.advanceSecs(31);
    await notices.run();
    const [first, second] = service.requests;
    expect(second?.headers.get("webhook-id")).toBe(first?.headers.get("webhook-id") ?? "");
    const verified = verifyDelivery(
      { headers: second?.headers ?? new Headers(), body: second?.body ?? new Uint8Array() },
      { secrets: [secret], signatureHeader: "X-Svc-Signature", nowSecs: T0 + 31 },
    );
    expect(verified).toEqual({ own: 0, standard: 0, ageSecs: 0 });
    expect(fixture.hooked()[1]).toMatchObject({
      type: "incident.open",
      service: "svc",
      incident: "i1",
      severity: "critical",
      node: "a",
      url: "https://node.example/console/operator",
    });
    service.service.status = 500;
    await incidents.open(opening("i2", { nodeId: "b" }), T0);
    for (let turn = 0; turn < 20; turn++) {
      await notices.run();
      clock.advanceSecs(600);
    }
    expect(service.requests).toHaveLength(2 + 5);
    expect(await channels()).toMatchObject([{ last_error: "the response was 500" }]);
  });

  test("a channel gets its severity and checks only; in quiet hours critical ones, and the rest at their end, as it is then", async () => {
    await using fixture = await fixtureOf(open);
    const { service, clock, incidents, notices } = fixture;
    await notices.add(hook(service, { label: "critical" }));
    await notices.add(
      hook(service, {
        label: "quiet",
        severity: "notice",
        quiet_hours: "07:00-09:00",
        zone: "UTC",
        url: `${service.hooks}/quiet`,
      }),
    );
    await notices.add(
      hook(service, {
        label: "backups",
        severity: "notice",
        checks: ["backup_failed"],
        url: `${service.hooks}/backups`,
      }),
    );
    // 08:00 in UTC.
    await incidents.open(opening("i1", { severity: "warning" }), T0);
    await incidents.open(opening("i2", { nodeId: "b" }), T0);
    await notices.run();
    expect(service.requests.map(({ path }) => path).sort()).toEqual(["/page", "/quiet"]);
    clock.advanceSecs(600);
    await incidents.resolve("disk_fills_up", "a", T0 + 600);
    await notices.run();
    expect(service.requests).toHaveLength(2);
    clock.advanceSecs(3000);
    await notices.run();
    expect(fixture.hooked().slice(2)).toMatchObject([{ type: "incident.resolved", incident: "i1" }]);
  });

  test("an open incident is sent again after four hours, until it is acknowledged; a muted one is not sent", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, subscribe, titles } = fixture;
    await subscribe();
    const later = async (secs: number) => {
      clock.advanceSecs(secs);
      await notices.run();
    };
    await incidents.open(opening("i1"), T0);
    await incidents.open(opening("i2", { nodeId: "b" }), T0);
    await incidents.mute("i2", T0 + 3600);
    await later(0);
    expect(await titles()).toHaveLength(1);
    await later(3600);
    expect(await titles()).toHaveLength(2);
    await later(REMIND_SECS - 3600);
    expect((await titles()).slice(2)).toEqual([expect.stringContaining("Still open")]);
    await incidents.acknowledge("i1", "ann", null, T0);
    await incidents.acknowledge("i2", "ann", null, T0);
    await later(3 * REMIND_SECS);
    expect(await titles()).toHaveLength(3);
  });

  test("after three flaps an incident is sent once an hour, and more than twenty notices an hour wait and are sent as one", async () => {
    await using fixture = await fixtureOf(open);
    const { service, clock, incidents, notices } = fixture;
    await notices.add(hook(service));
    for (let turn = 0; turn < 12; turn++) {
      await incidents.open(opening("i1"), T0 + turn * 120);
      await notices.run();
      clock.advanceSecs(60);
      await incidents.resolve("disk_fills_up", "a", T0 + turn * 120 + 60);
      await notices.run();
      clock.advanceSecs(60);
    }
    expect(service.requests.length).toBeLessThanOrEqual(8);
    clock.advanceSecs(FLAP_SECS + 7200);
    await notices.run();
    const before = service.requests.length;
    const now = T0 + 24 * 60 + FLAP_SECS + 7200;
    for (let n = 0; n < 30; n++) {
      await incidents.open(opening(`n${n}`, { nodeId: `n${n}` }), now);
      await notices.run();
    }
    expect(service.requests.length - before).toBe(20);
    clock.advanceSecs(3600);
    await notices.run();
    expect(fixture.hooked().at(-1)).toMatchObject({
      type: "incident.digest",
      title: "svc: 10 changes of incidents",
    });
    expect(service.requests.length - before).toBe(21);
  });

  test("a test is sent at once, whatever the severity; a removed channel gets nothing", async () => {
    await using fixture = await fixtureOf(open);
    const { clock, incidents, notices, subscribe, titles } = fixture;
    const added = await subscribe();
    const id = added.ok ? added.value.id : "";
    expect(await notices.test(id)).toBe(true);
    await notices.run();
    expect(await titles()).toEqual(["svc: A test"]);
    expect(await notices.remove(id)).toBe(true);
    expect([await notices.remove(id), await notices.test(id)]).toEqual([false, false]);
    await incidents.open(opening("i1"), T0);
    clock.advanceSecs(60);
    await notices.run();
    expect(await titles()).toHaveLength(1);
  });

  test("targets and the key are sealed under the master key, sealed again under the next, and unreadable without", async () => {
    await using fixture = await fixtureOf(open);
    const { service, clock, incidents, store, start, notices, channels } = fixture;
    await notices.add(
      hook(service, { headers: { authorization: "Bearer s3cret" } } as Partial<ChannelRequest>),
    );
    await notices.pushKey();
    const rows = async () =>
      [...(await store.list()), await store.vapidKey()].map((row) => ({
        id: row?.keyId,
        text: Buffer.from(row?.secret ?? []).toString("latin1"),
      }));
    expect((await rows()).map(({ id }) => id)).toEqual(["", ""]);
    for (const digits of [["1"], ["2", "1"]]) {
      const sealer = sealerOf(...digits);
      if (!sealer) throw new Error("no sealer");
      expect(await resealNotices(store, sealer)).toBe(2);
      expect(await resealNotices(store, sealer)).toBe(0);
      expect((await rows()).map(({ id, text }) => [id, text.includes("s3cret")])).toEqual(
        Array(2).fill([sealer.keyId, false]),
      );
    }
    await incidents.open(opening("i1"), T0);
    await start(sealerOf("2")).run();
    expect(service.requests.map(({ headers }) => headers.get("authorization"))).toEqual(["Bearer s3cret"]);
    await incidents.open(opening("i2", { nodeId: "b" }), T0);
    clock.advanceSecs(60);
    await start(sealerOf("3")).run();
    expect(service.requests).toHaveLength(1);
    expect(await channels()).toMatchObject([{ last_error: expect.stringContaining("master key") }]);
  });
}
