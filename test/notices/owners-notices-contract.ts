import { expect, test } from "bun:test";
import { MAX_OF_OWNER, REMIND_SECS } from "../../src/checks/incident-store.ts";
import { noticeOf, testNotice } from "../../src/notices/notice.ts";
import { createOwnerNotices } from "../../src/notices/owner-notices.ts";
import { noticesRpc } from "../../src/notices/rpc.ts";
import { MAX_CHANNELS } from "../../src/notices/store/notice-store.ts";
import { configWith } from "../runtime/config.ts";
import { until } from "../support/manual-time.ts";
import { fixtureOf, hook, type NoticeFixture, opening, T0 } from "./notices-contract.ts";

const OWNER = 3;
const OTHER = 4;
const MAX = 3;
/** How often concurrent work is repeated. */
const ROUNDS = 20;
const BUYER = new Uint8Array(20).fill(99);

async function ownersFixture(open: () => Promise<NoticeFixture>) {
  const fixture = await fixtureOf(open);
  const { notices, incidents, clock, service, state, custodyOf } = fixture;
  /** Whose custody has signed: that of late, or another one. */
  const actor = (fid: number, custody = custodyOf(fid)) => ({
    fid,
    custody,
    apiKeyId: null,
    requestId: "request",
    address: "192.0.2.1",
  });
  const owners = createOwnerNotices({
    node: noticesRpc(notices, { maxOfOwner: () => MAX, clock }),
    incidents,
    findings: state.findings,
    thresholds: configWith().checks,
    clock,
  });
  const addHook = async (fid: number, path: string, more: object = {}, custody = custodyOf(fid)) => {
    const body = { label: path, hook: { url: `${service.hooks}/${path}` }, ...more };
    const added = await owners.create(actor(fid, custody), body);
    return added.ok ? added.value.id : added.error;
  };
  const fails = (id: string, ownerFid: number, more: object = {}) =>
    incidents.open(
      opening(id, {
        checkId: "webhook_failing",
        nodeId: `hook-of-${id}`,
        ownerFid,
        severity: "warning",
        ...more,
      }),
      Math.floor(clock.nowMs() / 1000),
    );
  const actions = async (fid: number) =>
    (await state.audit.list(fid, { limit: 50, before: undefined })).map(({ action, recordId }) => [
      action,
      recordId,
    ]);
  const called = () => service.requests.map(({ path }) => path).toSorted();
  return { ...fixture, actor, owners, addHook, fails, actions, called };
}

/** The guarantees of owners' notices, over any implementation of their store. */
export function ownersNoticesContract(open: () => Promise<NoticeFixture>): void {
  test("an owner gets the incidents of their own records and no other one; the operator gets all", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, incidents, service, addHook, fails, called, hooked } = fixture;
    await addHook(OWNER, "own");
    await addHook(OTHER, "other");
    await notices.add(hook(service, { url: `${service.hooks}/operator`, severity: "notice" } as object));
    await fails("i1", OWNER);
    await incidents.open(opening("i2"), T0);
    await notices.run();
    expect(called()).toEqual(["/operator", "/operator", "/own"]);
    expect(hooked().filter(({ incident }) => incident === "i1")).toHaveLength(2);
    const own = service.requests.find(({ path }) => path === "/own");
    expect(JSON.parse(Buffer.from(own?.body ?? []).toString())).toMatchObject({ incident: "i1" });
    expect(hooked().find(({ incident }) => incident === "i1")).toMatchObject({
      type: "incident.open",
      check: "webhook_failing",
      title: "svc: Webhook failing (warning)",
      node: null,
      url: "https://node.example/console/manage/webhooks/hook-of-i1",
    });
  });

  test("a channel that is added gets what is open of its owner, also of what is sent once, and of nothing else", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, incidents, addHook, fails, hooked, called, service } = fixture;
    await fails("i1", OWNER);
    await fails("key", OWNER, { checkId: "api_key_expires", nodeId: "key", severity: "notice" });
    await fails("i2", OTHER);
    await incidents.open(opening("i3"), T0);
    await notices.run();
    await addHook(OWNER, "own");
    await notices.run();
    expect(called()).toEqual(["/own", "/own"]);
    expect(
      hooked()
        .map(({ incident }) => incident)
        .toSorted(),
    ).toEqual(["i1", "key"]);
    await notices.add(hook(service, { url: `${service.hooks}/operator`, severity: "warning" } as object));
    await notices.run();
    expect(
      hooked()
        .slice(2)
        .map(({ incident }) => incident)
        .toSorted(),
    ).toEqual(["i1", "i2", "i3"]);
  });

  test("a channel of another owner or of the operator is invisible: it is not listed, changed, tested or deleted", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, notices, owners, addHook, called, channels, service, actions } = fixture;
    const id = String(await addHook(OWNER, "own"));
    const added = await notices.add(hook(service));
    const operators = added.ok ? added.value.id : "";
    const before = await actions(OTHER);
    for (const channel_id of [id, operators, "nobody"]) {
      const notFound = { ok: false, error: { kind: "notFound", message: "no such channel" } } as const;
      expect(await owners.update(actor(OTHER), { channel_id, label: "mine" })).toEqual(notFound);
      expect(await owners.test(actor(OTHER), { channel_id })).toEqual(notFound);
      expect(await owners.delete(actor(OTHER), channel_id)).toEqual(notFound);
    }
    await notices.run();
    expect(called()).toEqual([]);
    expect((await owners.list(actor(OTHER))).channels).toEqual([]);
    expect((await owners.list(actor(OWNER))).channels).toMatchObject([
      { id, label: "own", severity: "notice" },
    ]);
    expect(await channels()).toMatchObject([{ id: operators, label: "pager" }]);
    // The operator has no owner's channel either.
    expect(await notices.remove(id)).toBe(false);
    expect(await actions(OTHER)).toEqual(before);
  });

  test("a browser may have channels of several owners and of the operator, each apart", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, owners, subscribe, browser, service, fails, notices, messages, channels } = fixture;
    const push = { endpoint: `${service.origin}/send/a`, keys: browser.keys };
    await subscribe();
    for (const fid of [OWNER, OTHER, OWNER]) {
      const added = await owners.create(actor(fid), { label: `phone of ${fid}`, push });
      expect(added).toMatchObject({ ok: true, value: { secret: null } });
    }
    expect(await channels()).toMatchObject([{ label: "phone" }]);
    expect((await owners.list(actor(OWNER))).channels).toMatchObject([
      { label: `phone of ${OWNER}`, kind: "push" },
    ]);
    expect((await owners.list(actor(OTHER))).pushKey).toBe(await notices.pushKey());
    await fails("i1", OTHER);
    await notices.run();
    expect(await messages()).toMatchObject([{ tag: "i1", path: "/console/manage/webhooks/hook-of-i1" }]);
    // The browser has ended its subscription: the channels of it go, one at a time.
    service.service.status = 410;
    await fails("i2", OWNER);
    await notices.run();
    expect((await owners.list(actor(OWNER))).channels).toEqual([]);
    expect((await owners.list(actor(OTHER))).channels).toHaveLength(1);
  });

  test("an owner has a handful of channels; what is wrong, private or too many is refused in words and leaves nothing", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, owners, addHook, actions, service } = fixture;
    for (const [body, message] of [
      [{ label: "x" }, "give either hook or push"],
      [{ label: "x", hook: { url: service.hooks }, push: {} }, "push"],
      [{ label: "", hook: { url: service.hooks } }, "label"],
      [{ label: "a\u202eb", hook: { url: service.hooks } }, "label must have"],
      [{ label: "x", hook: { url: "http://hooks.example/x" } }, "url must"],
      [{ label: "x", hook: { url: "https://private.example/x" } }, "url"],
      [{ label: "x", hook: { url: "https://169.254.169.254/latest" } }, "url"],
      [{ label: "x", hook: { url: service.hooks }, checks: ["disk_fills_up"] }, "not the id of a check"],
      [{ label: "x", hook: { url: service.hooks, headers: { Host: "a" } } }, "headers must not have"],
      [{ label: "x", hook: { url: service.hooks, preset: "teams" } }, "preset"],
      [
        { label: "x", push: { endpoint: "https://elsewhere.example", keys: { p256dh: "a", auth: "b" } } },
        "push_hosts",
      ],
      [{ label: "x", hook: { url: service.hooks }, quiet_hours: "25:00-1" }, "quiet_hours"],
      ["text", "object"],
    ] as const)
      expect([message, await owners.create(actor(OWNER), body)]).toMatchObject([
        message,
        { ok: false, error: { kind: "badRequest", message: expect.stringContaining(message) } },
      ]);
    expect(await actions(OWNER)).toEqual([]);
    const ids: string[] = [];
    for (let n = 0; n < MAX; n++) ids.push(String(await addHook(OWNER, `h${n}`)));
    const [first = "", second = ""] = ids;
    expect(await addHook(OWNER, "more")).toMatchObject({
      kind: "tooManyRequests",
      message: expect.stringContaining(`at most ${MAX} channels`),
    });
    expect(typeof (await addHook(OTHER, "theirs"))).toBe("string");
    await owners.update(actor(OWNER), { channel_id: first, label: "night" });
    await owners.test(actor(OWNER), { channel_id: first });
    await owners.delete(actor(OWNER), second);
    expect((await actions(OWNER)).toReversed()).toEqual([
      ...ids.map((id) => ["notice_channel.create", id]),
      ["notice_channel.update", first],
      ["notice_channel.test", first],
      ["notice_channel.delete", second],
    ]);
  });

  test("quiet hours, severity and checks of an owner's channel hold; its test is sent at once and names the page of the owner", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, notices, owners, addHook, fails, hooked, called } = fixture;
    await addHook(OWNER, "keys", { checks: ["api_key_expires"] });
    await addHook(OWNER, "critical", { severity: "critical" });
    const quiet = String(await addHook(OWNER, "quiet", { quiet_hours: "00:00-23:59" }));
    await fails("i1", OWNER);
    await notices.run();
    expect(called()).toEqual([]);
    await owners.test(actor(OWNER), { channel_id: quiet });
    const tested = async () => (await owners.list(actor(OWNER))).channels.find(({ id }) => id === quiet);
    await until(async () => (await tested())?.last_at === T0);
    expect(called()).toEqual(["/quiet"]);
    expect(hooked()[0]).toMatchObject({
      type: "incident.test",
      url: "https://node.example/console/manage/notices",
    });
    expect(await tested()).toMatchObject({ last_error: null });
  });

  test("after twenty notices an hour an owner's channel gets one for the rest; what expires is sent once, and not when it is over", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, clock, addHook, fails, hooked, incidents } = fixture;
    await addHook(OWNER, "own");
    await fails("key", OWNER, { checkId: "api_key_expires", nodeId: "key", severity: "notice" });
    await notices.run();
    clock.advanceSecs(2 * REMIND_SECS);
    await notices.run();
    await incidents.resolve("api_key_expires", "key", T0 + 2 * REMIND_SECS);
    await notices.run();
    expect(hooked()).toMatchObject([{ type: "incident.open", check: "api_key_expires" }]);
    clock.setSecs(T0 + 10 * 3600 - (T0 % 3600));
    for (let n = 0; n < 25; n++) {
      await fails(`f${n}`, OWNER);
      await notices.run();
    }
    expect(hooked()).toHaveLength(1 + 20);
    clock.advanceSecs(3600);
    await notices.run();
    expect(hooked().at(-1)).toMatchObject({
      type: "incident.digest",
      title: "svc: 5 changes of incidents",
      url: "https://node.example/console/manage/notices",
    });
    expect(hooked()).toHaveLength(22);
  });

  test("owners' incidents that use up the hour of the operator's channel delay none of the node, nor does a test send them", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, clock, fails, hooked, incidents, service, store } = fixture;
    const added = await notices.add(hook(service, { severity: "notice" }));
    clock.setSecs(T0 + 10 * 3600 - (T0 % 3600));
    const now = () => Math.floor(clock.nowMs() / 1000);
    for (let n = 0; n < 25; n++) {
      await fails(`f${n}`, OWNER);
      await notices.run();
    }
    expect(hooked()).toHaveLength(10);
    // More than one claim takes.
    for (let n = 0; n < 110; n++) {
      const { id } = added.ok ? added.value : { id: "" };
      const content = { ...noticeOf((await fails(`g${n}`, OWNER)).incident, "open", now()) };
      await store.put({ channelId: id, ownerFid: 0, custody: null }, content);
    }
    await notices.run();
    expect(hooked()).toHaveLength(10);
    clock.advanceSecs(1);
    await incidents.open(opening("warned", { severity: "warning" }), now());
    await notices.run();
    expect(hooked().slice(10)).toMatchObject([{ incident: "warned", state: "open" }]);
    await notices.test(added.ok ? added.value.id : "");
    await notices.run();
    expect(hooked().slice(11)).toMatchObject([{ type: "incident.test" }]);
    clock.advanceSecs(3600);
    await notices.run();
    expect(hooked().at(-1)).toMatchObject({ type: "incident.digest" });
  });

  test("channels of many owners that are due delay none of the operator", async () => {
    await using fixture = await ownersFixture(open);
    const { custodyOf, notices, clock, service, incidents, called } = fixture;
    await notices.add(hook(service, { url: `${service.hooks}/operator` } as object));
    for (let fid = 1; fid <= 2 * MAX_CHANNELS + 1; fid++) {
      const own = notices.channelsOf({ ownerFid: fid, custody: custodyOf(fid), maxChannels: MAX });
      const added = await own.add(hook(service));
      await own.test(added.ok ? added.value.id : "");
    }
    clock.advanceSecs(1);
    await incidents.open(opening("i1"), T0 + 1);
    await notices.run();
    expect(called()).toContain("/operator");
  });

  test("hooks of one owner that do not respond delay none of another owner", async () => {
    await using fixture = await ownersFixture(open);
    const { custodyOf, notices, clock, fails, service, called } = fixture;
    const hanging = Promise.withResolvers<void>();
    service.service.hangs = hanging.promise;
    const slow = notices.channelsOf({
      ownerFid: OWNER,
      custody: custodyOf(OWNER),
      maxChannels: 4 * MAX_CHANNELS,
    });
    for (let n = 0; n < 4 * MAX_CHANNELS; n++)
      await slow.add(hook(service, { url: `${service.hooks}/hangs`, severity: "notice" } as object));
    await fails("i1", OWNER);
    const first = notices.run();
    await until(() => called().length > 0);
    clock.advanceSecs(1);
    await notices
      .channelsOf({ ownerFid: OTHER, custody: custodyOf(OTHER), maxChannels: MAX })
      .add(hook(service, { url: `${service.hooks}/works`, severity: "notice" } as object));
    await fails("i2", OTHER);
    const second = notices.run();
    await until(() => called().includes("/works"));
    expect(called()).toEqual(["/hangs", "/works"]);
    hanging.resolve();
    await Promise.all([first, second]);
    // Each is called as soon as the one before has ended.
    expect(called().filter((path) => path === "/hangs").length).toBeGreaterThan(MAX_CHANNELS);
  });

  test("a channel belongs to the custody address that made it: after a transfer of the fid it is invisible and gets nothing", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, notices, owners, addHook, fails, custodies, called, clock, actions, store } = fixture;
    const former = String(await addHook(OWNER, "former"));
    await fails("waits", OWNER);
    // Queued before the transfer, sent after it.
    await store.queue(T0);
    custodies.set(OWNER, BUYER);
    await notices.run();
    clock.advanceSecs(1);
    await fails("i1", OWNER);
    await notices.run();
    expect(called()).toEqual([]);
    expect((await owners.list(actor(OWNER))).channels).toEqual([]);
    const before = await actions(OWNER);
    for (const change of [
      owners.update(actor(OWNER), { channel_id: former, label: "mine" }),
      owners.test(actor(OWNER), { channel_id: former }),
      owners.delete(actor(OWNER), former),
    ])
      expect(await change).toEqual({ ok: false, error: { kind: "notFound", message: "no such channel" } });
    expect(await actions(OWNER)).toEqual(before);
    // It comes back with the fid, as long as no one else had channels in between.
    custodies.delete(OWNER);
    expect((await owners.list(actor(OWNER))).channels).toMatchObject([{ id: former }]);
    custodies.set(OWNER, BUYER);
    for (let n = 0; n < MAX; n++) expect(typeof (await addHook(OWNER, `new${n}`))).toBe("string");
    expect((await store.list(OWNER)).map(({ label }) => label)).not.toContain("former");
    custodies.delete(OWNER);
    expect((await owners.list(actor(OWNER))).channels).toEqual([]);
    custodies.set(OWNER, BUYER);
    clock.advanceSecs(1);
    await fails("i2", OWNER);
    await notices.run();
    expect([...new Set(called())]).toEqual(["/new0", "/new1", "/new2"]);
  });

  test("a channel of before the custody of channels was kept becomes one of the fid's custody, and ends with it", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, notices, owners, addHook, fails, custodies, called, clock, store } = fixture;
    const id = String(await addHook(OWNER, "older"));
    const [channel] = await store.list(OWNER);
    if (!channel) throw new Error("no channel");
    await store.remove(channel);
    await store.add({ ...channel, custody: null }, MAX);
    expect((await owners.list(actor(OWNER))).channels).toMatchObject([{ id, label: "older" }]);
    await addHook(OWNER, "newer");
    expect(await owners.update(actor(OWNER), { channel_id: id, label: "old" })).toMatchObject({ ok: true });
    await fails("i1", OWNER);
    await notices.run();
    expect(called()).toEqual(["/newer", "/older"]);
    custodies.set(OWNER, BUYER);
    clock.advanceSecs(1);
    await fails("i2", OWNER);
    await notices.run();
    expect(called()).toHaveLength(2);
    expect((await owners.list(actor(OWNER))).channels).toEqual([]);
  });

  test("a fid that is transferred while the host of a channel is looked up gets no channel of its previous owner, and loses none", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, owners, addHook, custodies, lookUps } = fixture;
    custodies.set(OWNER, BUYER);
    await addHook(OWNER, "new");
    custodies.delete(OWNER);
    lookUps.before = () => void custodies.set(OWNER, BUYER);
    expect(await addHook(OWNER, "former")).toMatchObject({ kind: "badRequest" });
    expect((await owners.list(actor(OWNER))).channels).toMatchObject([{ label: "new" }]);
  });

  test("a node that has not applied a transfer drops nothing of the new owner's channels", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, addHook, fails, custodies, called, clock } = fixture;
    custodies.set(OWNER, BUYER);
    await addHook(OWNER, "new");
    await fails("i1", OWNER);
    custodies.delete(OWNER);
    await notices.run();
    expect(called()).toEqual([]);
    custodies.set(OWNER, BUYER);
    clock.advanceSecs(60);
    await notices.run();
    expect(called()).toEqual(["/new"]);
  });

  test("a previous owner whose request is verified before the new owner acts adds no channel, and ends none", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, owners, addHook, custodies, custodyOf, state } = fixture;
    const seller = custodyOf(OWNER);
    const acting = (custody: Uint8Array, blockNumber: number) =>
      state.custodies.record({ fid: OWNER, custody, blockNumber, logIndex: 0 });
    await acting(seller, 1);
    expect(typeof (await addHook(OWNER, "former"))).toBe("string");
    custodies.set(OWNER, BUYER);
    await acting(BUYER, 2);
    await addHook(OWNER, "new");
    custodies.delete(OWNER);
    expect(await addHook(OWNER, "late")).toMatchObject({ kind: "badRequest" });
    expect((await owners.list(actor(OWNER, BUYER))).channels).toMatchObject([{ label: "new" }]);
    expect((await owners.list(actor(OWNER, seller))).channels).toEqual([]);
  });

  test("what a previous owner's channel has to get is deleted after an hour", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, addHook, fails, custodies, called, clock } = fixture;
    await addHook(OWNER, "former");
    await fails("i1", OWNER);
    custodies.set(OWNER, BUYER);
    for (const secs of [0, 3600]) {
      clock.advanceSecs(secs);
      await notices.run();
    }
    custodies.delete(OWNER);
    clock.advanceSecs(60);
    await notices.run();
    expect(called()).toEqual([]);
  });

  test("a node that is behind calls the operator's channels only", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, addHook, fails, upstream, called, service } = fixture;
    await addHook(OWNER, "own");
    await notices.add(hook(service, { severity: "notice" } as object));
    await fails("i1", OWNER);
    upstream.isBehind = true;
    await notices.run();
    expect(called()).toEqual(["/page"]);
    upstream.isBehind = false;
    await notices.run();
    expect(called()).toEqual(["/own", "/page"]);
  });

  test("a browser that subscribes again where the limit is lower now keeps the channel that it has", async () => {
    await using fixture = await ownersFixture(open);
    const { custodyOf, notices, addHook, service, browser, store } = fixture;
    const push = {
      kind: "push",
      label: "phone",
      endpoint: `${service.origin}/send/a`,
      keys: browser.keys,
    } as const;
    for (const path of ["a", "b"]) await addHook(OWNER, path);
    const ofOwner = (maxChannels: number) =>
      notices.channelsOf({ ownerFid: OWNER, custody: custodyOf(OWNER), maxChannels });
    expect((await ofOwner(MAX).add(push)).ok).toBe(true);
    expect(await ofOwner(1).add(push)).toMatchObject({ ok: false, error: { isFull: true } });
    expect((await store.list(OWNER)).map(({ label }) => label).toSorted()).toEqual(["a", "b", "phone"]);
  });

  test("a transfer between two messages of a channel leaves the rest unsent", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, addHook, custodies, called, fails, lookUps } = fixture;
    await addHook(OWNER, "own");
    for (const id of ["i1", "i2", "i3"]) await fails(id, OWNER);
    lookUps.before = () => void custodies.set(OWNER, BUYER);
    await notices.run();
    expect(called()).toEqual(["/own"]);
    custodies.delete(OWNER);
    await notices.run();
    expect(called()).toEqual(["/own"]);
  });

  test("an owner has at most 200 incidents: the oldest that are resolved go first, and the open ones stay", async () => {
    await using fixture = await ownersFixture(open);
    const { incidents, fails } = fixture;
    for (let n = 0; n < MAX_OF_OWNER + 20; n++) {
      await fails(`i${n}`, OWNER, { nodeId: `hook-${n}` });
      fixture.clock.advanceSecs(1);
      if (n % 10 !== 0) await incidents.resolve("webhook_failing", `hook-${n}`, T0 + n);
    }
    await fails("theirs", OTHER);
    const kept = await incidents.listOf(OWNER, 0);
    expect(kept).toHaveLength(MAX_OF_OWNER);
    const gone = Array.from({ length: 22 }, (_, n) => n)
      .filter((n) => n % 10 !== 0)
      .slice(0, 20);
    const ids = new Set(kept.map(({ incidentId }) => incidentId));
    expect(gone.filter((n) => ids.has(`i${n}`))).toEqual([]);
    expect([0, 10, 20, 210].filter((n) => !ids.has(`i${n}`))).toEqual([]);
    expect(await incidents.listOf(OTHER, 0)).toHaveLength(1);
  });

  test("a change of a channel keeps the terms that it does not name", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, owners, addHook } = fixture;
    const terms = {
      quiet_hours: "22:00-07:00",
      zone: "Europe/Berlin",
      checks: ["send_held"],
      severity: "warning",
    };
    const channel_id = String(await addHook(OWNER, "own", terms));
    const kept = { quiet_hours: "22:00-07:00 Europe/Berlin", checks: ["send_held"], severity: "warning" };
    expect(await owners.update(actor(OWNER), { channel_id, label: "phone" })).toMatchObject({
      ok: true,
      value: { label: "phone", ...kept },
    });
    expect(await owners.update(actor(OWNER), { channel_id, label: "phone", quiet_hours: "" })).toMatchObject({
      ok: true,
      value: { ...kept, quiet_hours: null },
    });
  });

  test("a notice that arrives while its channel is changed or removed is sent, or removed with it", async () => {
    await using fixture = await ownersFixture(open);
    const { notices, addHook, store, custodyOf } = fixture;
    const own = notices.channelsOf({ ownerFid: OWNER, custody: custodyOf(OWNER), maxChannels: MAX });
    const content = testNotice("svc", OWNER, T0);
    for (let round = 0; round < ROUNDS; round++) {
      const channelId = String(await addHook(OWNER, "own"));
      const channel = { channelId, ownerFid: OWNER, custody: custodyOf(OWNER) };
      const put = () => store.put(channel, content);
      const changes = await Promise.all([
        own.edit(channelId, { label: "b" }),
        put(),
        own.edit(channelId, { label: "c" }),
        put(),
      ]);
      expect(changes.map((change) => (typeof change === "boolean" ? change : change.ok))).toEqual([
        true,
        true,
        true,
        true,
      ]);
      const claim = await store.claim(T0 + 1);
      expect([round, claim?.notices.length]).toEqual([round, 1]);
      const [, isSettled] = await Promise.all([
        own.edit(channelId, { label: "d" }),
        store.settle(
          { channelId, claims: claim?.channel.claims ?? 0 },
          { done: [], sent: 0, attempts: 0, last: undefined, retryAt: undefined },
          T0 + 1,
        ),
      ]);
      expect([round, isSettled]).toEqual([round, true]);
      await own.remove(channelId);
    }
  });

  test("an owner acknowledges their own incident, which ends its reminders, and reads only their own", async () => {
    await using fixture = await ownersFixture(open);
    const { actor, notices, clock, owners, addHook, fails, hooked, actions } = fixture;
    await addHook(OWNER, "own");
    await fails("iA", OWNER);
    await fails("iB", OTHER);
    await notices.run();
    expect(await owners.incidents(OWNER)).toMatchObject([
      {
        id: "iA",
        title: "Webhook failing",
        state: "open",
        node: null,
        path: "/console/manage/webhooks/hook-of-iA",
        remedy: expect.stringContaining("attempts"),
      },
    ]);
    expect(await owners.acknowledge(actor(OWNER), { incident_id: "iB" })).toMatchObject({
      ok: false,
      error: { kind: "notFound" },
    });
    expect(await owners.acknowledge(actor(OWNER), { incident_id: "iA" })).toEqual({
      ok: true,
      value: undefined,
    });
    clock.advanceSecs(2 * REMIND_SECS);
    await notices.run();
    expect(hooked()).toHaveLength(1);
    expect(await owners.incidents(OWNER)).toMatchObject([{ state: "acknowledged" }]);
    expect((await actions(OWNER))[0]).toEqual(["incident.ack", "iA"]);
  });
}
