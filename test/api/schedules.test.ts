import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { transferEvent } from "../support/events.ts";
import { until } from "../support/manual-time.ts";
import { makeWallet } from "../support/messages.ts";
import { type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, type SendApi, startSendApi, testApp } from "../support/send.ts";
import { callBySession, createSession } from "../support/sessions.ts";
import { custodyWallet } from "../support/signing.ts";
import { localStores } from "../support/state-stores.ts";

const notification = { title: "T", body: "B", target_url: "https://app.example/x?a=1#top" };
const HOUR = 3_600;

let api: SendApi;
let client: PushClient;
beforeEach(async () => {
  api = await startSendApi();
  client = startPushClient();
});
afterEach(async () => {
  await api[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
});

const now = () => api.signed.nowSecs();
const clock = () => api.signed.api.node.clock;
const call = (method: "GET" | "POST" | "DELETE", path: string, body?: object, fid = 3) =>
  api.signed.call({ method, path, fid, ...(body && { body }) });
const schedule = (body: object = {}, fid = 3) =>
  call("POST", "/frame/app/campaign", { app_id: APP_ID, notification, ...body }, fid);
const found = async (scheduleId: string) =>
  (await call("GET", `/frame/app/schedule?app_id=${APP_ID}&schedule_id=${scheduleId}`)).body.schedules[0];
/** Waits until nothing of a schedule is due. */
const decided = (scheduleId: string) => until(async () => (await found(scheduleId)).state !== "due");
const addPeople = (count: number, clientFid = 9152) =>
  api.addTokens(
    Array.from({ length: count }, (_, at) => ({
      fid: at + 1,
      clientFid,
      url: `http://c.example:${client.port}/`,
      token: `t${at + 1}`,
    })),
  );
/** How often each person was shown a notification. */
const shownTo = (id: string) =>
  [...client.shown].filter(([key]) => key.startsWith(id)).map(([, times]) => times);
const campaignsOf = async (scheduleId: string) => {
  const { waves } = await found(scheduleId);
  const ids = waves.flatMap(({ campaign_id: id }: { campaign_id: string | null }) =>
    id === null ? [] : [id],
  );
  await until(async () => {
    const campaigns = await Promise.all(ids.map((id: string) => api.campaign(id)));
    return campaigns.every(({ status }) => status === "completed");
  });
  return Promise.all(ids.map((id: string) => api.campaign(id)));
};

describe("a scheduled send", () => {
  test("is sent at its time, once, under the id of the schedule", async () => {
    addPeople(3);
    const response = await schedule({ send_at: now() + HOUR });
    expect(response).toMatchObject({
      status: 202,
      body: {
        status: "scheduled",
        schedule: { state: "due", first_at: now() + HOUR, waves: [{ variant: 0 }] },
      },
    });
    const { schedule_id: id } = response.body.schedule;
    expect(client.requests).toHaveLength(0);
    clock().advanceSecs(HOUR);
    await decided(id);
    const [campaign] = await campaignsOf(id);
    expect(campaign).toMatchObject({ success_count: 3, notification: { uuid: id, title: "T" } });
    expect(campaign.campaign_id).toBe(Bun.randomUUIDv5("0", id));
    expect(shownTo(id)).toEqual([1, 1, 1]);
    expect(client.requests[0]?.targetUrl).toBe(notification.target_url);
    expect((await call("DELETE", `/frame/app/schedule?schedule_id=${id}`)).status).toBe(400);
  });

  test("is held when custody has moved or the app was deleted or moved, and missed when it is too late", async () => {
    addPeople(1);
    const apps = localStores(api.state).apps;
    await apps.create(testApp({ appId: "gone", secrets: [] }), 10);
    await apps.create(testApp({ appId: "moved", secrets: [] }), 10);
    const idOf = async (body: object) =>
      (await schedule({ send_at: now() + 60, ...body })).body.schedule.schedule_id;
    const [gone, moved, late] = [
      await idOf({ app_id: "gone" }),
      await idOf({ app_id: "moved" }),
      await idOf({ late_ok_secs: 60, send_at: now() + 10 }),
    ];
    await apps.delete({ id: "gone", ownerFid: 3, nowSecs: now() });
    await apps.update({ id: "moved", ownerFid: 3, nowSecs: now() }, { appUrl: "https://other.example" });
    clock().advanceSecs(100);
    const stored = (id: string) => localStores(api.state).schedules.find(id);
    const waveOf = async (id: string) => (await stored(id))?.waves[0];
    await until(async () => (await waveOf(gone))?.state === "held");
    expect(await waveOf(gone)).toMatchObject({ reason: "app_deleted" });
    await until(async () => (await waveOf(moved))?.state === "held");
    expect(await waveOf(moved)).toMatchObject({ reason: "app_url_changed" });
    await decided(late);
    expect(await found(late)).toMatchObject({ state: "missed" });

    const id = await idOf({});
    api.signed.api.node.ingestEvent(
      transferEvent(3, custodyWallet(3).address, makeWallet("buyer").address, { block: 5000 }),
    );
    clock().advanceSecs(100);
    await until(async () => (await waveOf(id))?.state === "held");
    expect(await waveOf(id)).toMatchObject({ reason: "custody_moved" });
    expect(client.requests).toHaveLength(0);
  });

  test("can be cancelled by a session, but only created by custody", async () => {
    const session = await createSession(api.signed, 3);
    const reader = await createSession(api.signed, 3, { access: "read" });
    const { schedule_id: id } = (await schedule({ send_at: now() + HOUR })).body.schedule;
    const path = `/frame/app/schedule?schedule_id=${id}`;
    expect((await callBySession(api.signed, reader, { method: "DELETE", path })).status).toBe(403);
    const body = { app_id: APP_ID, notification, send_at: now() + HOUR };
    const sent = await callBySession(api.signed, session, {
      method: "POST",
      path: "/frame/app/campaign",
      body,
    });
    expect(sent.status).toBe(403);
    expect((await call("DELETE", path, undefined, 4)).status).toBe(403);
    const list = `/frame/app/schedule?app_id=${APP_ID}`;
    expect(
      (await callBySession(api.signed, reader, { method: "GET", path: list })).body.schedules,
    ).toHaveLength(1);
    const cancelled = await callBySession(api.signed, session, { method: "DELETE", path });
    expect(cancelled).toMatchObject({ status: 200, body: { schedule: { state: "cancelled" } } });
    expect((await call("GET", list, undefined, 4)).status).toBe(403);
    expect((await call("GET", `${list}&schedule_id=${id}`, undefined, 4)).status).toBe(403);
    expect((await call("DELETE", "/frame/app/schedule?schedule_id=nothing")).status).toBe(404);
  });

  test("an app has at most 100 to send", async () => {
    const { schedules } = localStores(api.state);
    const first = (await schedule({ send_at: now() + HOUR })).body.schedule;
    const stored = await schedules.find(first.schedule_id);
    if (!stored) throw new Error("the schedule is stored");
    const audience = { targetFids: [], excludeFids: [], followingFid: null };
    const content = { ...stored.content, audience };
    for (let at = 1; at < 100; at++)
      await schedules.create({ ...stored, content, scheduleId: crypto.randomUUID() }, 100);
    expect((await schedule({ send_at: now() + HOUR })).status).toBe(429);
    expect((await schedule()).status).toBe(202);
    await call("DELETE", `/frame/app/schedule?schedule_id=${first.schedule_id}`);
    expect((await schedule({ send_at: now() + HOUR })).status).toBe(202);
    const page = await call("GET", `/frame/app/schedule?app_id=${APP_ID}&limit=100`);
    expect(page.body.schedules).toHaveLength(100);
    const rest = await call("GET", `/frame/app/schedule?app_id=${APP_ID}&cursor=${page.body.next.cursor}`);
    expect(rest.body).toMatchObject({ schedules: [{}], next: { cursor: null } });
  });

  test("contradictory or excessive parts of a request are refused by name", async () => {
    const ok = { send_at: now() + HOUR };
    const variants = [{ title: "A" }, { title: "B" }];
    const quiet_hours = { from: "22:00", to: "08:00" };
    const many = Array.from({ length: 40_000 }, (_, at) => 1_000_000 + at);
    const refused: readonly (readonly [string, object])[] = [
      ["send_at", { send_at: now() - 1 }],
      ["send_at", { send_at: now() + 31 * 86_400 }],
      ["send_at", { send_at: 2 ** 60 }],
      ["send_at", { send_at: 1.5 }],
      ["send_at", { ...ok, local_time: "2026-12-01T07:00" }],
      ["local_time", { local_time: "2026-12-01T07:01" }],
      ["local_time", { local_time: "2026-02-30T07:00" }],
      ["local_time", { local_time: "2019-01-01T07:00" }],
      ["local_time", { local_time: "9999-12-31T23:45" }],
      ["time_zone", { ...ok, time_zone: "+05:30" }],
      ["quiet_hours", { ...ok, quiet_hours: { from: "22:00", to: "22:00" } }],
      ["quiet_hours", { ...ok, quiet_hours: { from: "22:00", to: "08:01" } }],
      ["quiet_hours", { ...ok, quiet_hours: { from: "24:00", to: "08:00" } }],
      ["quiet_hours", { ...ok, quiet_hours: { ...quiet_hours, zone: "UTC" } }],
      ["late_ok_secs", { ...ok, late_ok_secs: 1 }],
      ["variants", { variants: [{ title: "A" }] }],
      ["variants", { variants: [{ title: "x".repeat(33) }, {}] }],
      ["variants[1].target_url", { variants: [{}, { target_url: "https://evil.example/" }] }],
      ["holdout_percent", { holdout_percent: 10 }],
      ["winner_after_hours", { variants, winner_after_hours: 2 }],
      ["winner_after_hours", { variants, holdout_percent: 50, winner_after_hours: 2 }],
      [
        "winner_after_hours",
        { variants, quiet_hours, holdout_percent: 5, winner_after_hours: 2, track_opens: true },
      ],
      ["uuid", { ...ok, notification: { ...notification, uuid: crypto.randomUUID() } }],
      ["too many fids", { ...ok, target_fids: many }],
      ["segment_id", { ...ok, segment_id: 5 }],
    ];
    for (const [name, body] of refused) {
      const { status, body: response } = await schedule(body);
      expect({ name, status, names: response.message?.includes(name) }).toEqual({
        name,
        status: 400,
        names: true,
      });
    }
    expect((await schedule({ ...ok, segment_id: "nothing" })).status).toBe(404);
    expect((await schedule(ok, 4)).status).toBe(403);
    expect(await localStores(api.state).schedules.due(2 ** 40, 10)).toEqual([]);
  });
});

describe("waves", () => {
  test("people of reported, declared and unknown zones get it at their time, each once, also after they report another zone", async () => {
    addPeople(30);
    const { opens } = localStores(api.state);
    const zones = ["Asia/Tokyo", "America/New_York", "Europe/Berlin"];
    for (const [at, zone] of zones.entries())
      for (let fid = at * 5 + 1; fid <= at * 5 + 5; fid++)
        await opens.setZone({ appId: APP_ID, fid, zone, nowSecs: now() });
    const date = new Date((now() + 3 * 86_400) * 1000).toISOString().slice(0, 10);
    const local_time = `${date}T07:00`;
    const { schedule_id: id, waves } = (
      await schedule({ local_time, time_zone: "Asia/Kolkata", late_ok_secs: 86_400 })
    ).body.schedule;
    expect(waves.length).toBeGreaterThan(30);
    const timeOf = (zone: string) =>
      Temporal.PlainDateTime.from(local_time).toZonedDateTime(zone).epochMilliseconds / 1000;
    const stops = [
      ["Asia/Tokyo", 5],
      ["Asia/Kolkata", 20],
      ["Europe/Berlin", 25],
      ["America/New_York", 30],
    ] as const;
    for (const [zone, reached] of stops) {
      clock().setSecs(timeOf(zone) - 1);
      await until(async () => {
        const { waves } = await found(id);
        return waves.every(
          (wave: { due_at: number; state: string }) => wave.due_at > now() || wave.state !== "due",
        );
      });
      const before = shownTo(id).length;
      clock().setSecs(timeOf(zone));
      await until(() => shownTo(id).length === reached);
      expect(before).toBeLessThan(reached);
      // Someone who has it travels east, and someone who has not travels west: neither is forgotten or notified twice.
      await opens.setZone({ appId: APP_ID, fid: 1, zone: "America/New_York", nowSecs: now() });
      await opens.setZone({ appId: APP_ID, fid: 6, zone: "Asia/Tokyo", nowSecs: now() });
    }
    clock().setSecs(timeOf("Etc/GMT+12") + 60);
    await decided(id);
    await campaignsOf(id);
    expect(shownTo(id)).toEqual(Array.from({ length: 30 }, () => 1));
    expect(await found(id)).toMatchObject({ state: "sent" });
  }, 120_000);

  test("variants are disjoint, the holdout gets nothing before the winner, and links name campaign and host", async () => {
    addPeople(200);
    const response = await schedule({
      variants: [{ title: "A" }, { title: "B", target_url: "https://app.example/b" }],
      holdout_percent: 20,
      winner_after_hours: 2,
      track_opens: true,
    });
    const { schedule_id: id } = response.body.schedule;
    await until(
      async () =>
        (await found(id)).waves.filter(({ state }: { state: string }) => state === "sent").length === 2,
    );
    const [a, b] = await campaignsOf(id);
    expect(a.success_count + b.success_count).toBe(shownTo(id).length);
    expect(a.success_count + b.success_count).toBeGreaterThan(130);
    expect(a.success_count + b.success_count).toBeLessThan(185);
    const links = new Map(client.requests.map(({ title, targetUrl }) => [title, targetUrl]));
    const token =
      /^https:\/\/app\.example\/b\?svc_open=([1-9A-Za-z]{10})$/.exec(links.get("B") ?? "")?.[1] ?? "";
    expect(links.get("A")).toMatch(/^https:\/\/app\.example\/x\?a=1&svc_open=[1-9A-Za-z]{10}#top$/);
    const opened = { appId: APP_ID, token, clientFid: 9152, isVerified: false, goal: null, nowSecs: now() };
    await localStores(api.state).opens.add({ ...opened, fid: 1 });
    clock().advanceSecs(2 * HOUR);
    await decided(id);
    const [, , winner] = await campaignsOf(id);
    expect(winner).toMatchObject({ notification: { title: "B" } });
    expect(shownTo(id)).toEqual(Array.from({ length: 200 }, () => 1));
  });
});

test("an immediate send may have a segment and tracked links, and is a campaign as before", async () => {
  addPeople(3);
  const filter = { fids: [2, 3, 77] };
  const { segment_id } = (await call("POST", "/frame/app/segment", { app_id: APP_ID, name: "S", filter }))
    .body.segment;
  const estimate = await call("POST", "/frame/app/campaign/estimate", { app_id: APP_ID, segment_id });
  expect(estimate.body).toMatchObject({ tokens: 2, fids: 2 });
  const sent = await schedule({ segment_id, track_opens: true });
  expect(sent).toMatchObject({ status: 202, body: { status: "queued" } });
  await until(async () => (await api.campaign(sent.body.campaign_id)).status === "completed");
  expect(await api.campaign(sent.body.campaign_id)).toMatchObject({
    success_count: 2,
    not_attempted: { not_in_segment: 1 },
    notification: { target_url: notification.target_url },
  });
  expect(client.requests[0]?.targetUrl).toContain("svc_open=");
});

test.each([
  [{}, /^filter must have at least one condition: added_after, added_before, /],
  [undefined, /^filter must have at least one condition: /],
  [{ added_after: 20, added_before: 20 }, /^filter.added_after must be before filter.added_before$/],
  [
    { opened_within_days: 3, not_opened_within_days: 7 },
    /^filter has both opened_within_days and not_opened_within_days$/,
  ],
  [{ added: 20 }, /^filter has an unknown key "added"$/],
])("a segment with the filter %j is 400", async (filter, message) => {
  const response = await call("POST", "/frame/app/segment", { app_id: APP_ID, name: "S", filter });
  expect(response).toMatchObject({ status: 400, body: { message: expect.stringMatching(message) } });
});

describe("opens", () => {
  const report = (body: object, headers: Record<string, string> = {}) =>
    fetch(`${api.signed.api.url}/v2/svc/frame/app/open`, {
      method: "POST",
      headers: { origin: "https://app.example", ...headers },
      body: JSON.stringify(body),
    });
  const resultsOf = async (query: string, fid = 3) =>
    call("GET", `/frame/app/campaign/results?${query}`, undefined, fid);

  test("an app reports from its own origin, once for each person, and only its owner sees the results", async () => {
    addPeople(4);
    const { body } = await schedule({ track_opens: true });
    await until(async () => (await api.campaign(body.campaign_id)).status === "completed");
    const open = new URL(client.requests[0]?.targetUrl ?? "").searchParams.get("svc_open");
    const opened = { app_id: APP_ID, open, fid: 1, client_fid: 9152, zone: "Asia/Calcutta" };
    clock().advanceSecs(120);
    const responses = [
      await report(opened),
      await report(opened),
      // The link is of the host of a client, in which the person has the app.
      await report({ ...opened, client_fid: undefined, fid: 2, goal: "bought", token: "forged.token.here" }),
      await report({ ...opened, fid: 777 }),
      await report({ ...opened, fid: 3, open: "1111111111" }),
      await report({ ...opened, fid: 3, app_id: "nobody" }),
    ];
    for (const { status, headers } of responses)
      expect([status, headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    for (const wrong of [{}, { ...opened, fid: -1 }, { ...opened, open: "x" }, { ...opened, goal: "a b" }])
      expect((await report(wrong)).status).toBe(400);
    expect(await (await report({ ...opened, goal: "a b" })).json()).toEqual({
      message: "goal must be 1 to 32 lower-case letters, digits, _ and -",
    });
    const { status, body: results } = await resultsOf(`campaign_id=${body.campaign_id}`);
    expect(status).toBe(200);
    expect(results).toEqual({
      results: {
        delivered: 4,
        failed: 0,
        not_attempted: 0,
        opened: 2,
        verified: 0,
        goals: 1,
        turned_off: 0,
        median_open_minutes: 2,
      },
      clients: [{ client_fid: 9152, delivered: 4, opened: 2, verified: 0, turned_off: 0 }],
      hours: [{ hour: 0, opened: 2 }],
      variants: [],
      likely_better: null,
    });
    expect((await resultsOf(`campaign_id=${body.campaign_id}`, 4)).status).toBe(403);
    expect((await resultsOf("campaign_id=nothing")).status).toBe(404);
    for (const query of ["", "campaign_id=a&schedule_id=b"])
      expect(await resultsOf(query)).toMatchObject({
        status: 400,
        body: { message: "exactly one of campaign_id and schedule_id is required" },
      });
    const zones = await localStores(api.state).opens.zonesAt(APP_ID, [1, 777], now());
    expect([...zones]).toEqual([[1, "Asia/Calcutta"]]);
    const segment = { app_id: APP_ID, name: "Quiet", filter: { not_opened_within_days: 7 } };
    const { segment_id } = (await call("POST", "/frame/app/segment", segment)).body.segment;
    const estimate = await call("POST", "/frame/app/campaign/estimate", { app_id: APP_ID, segment_id });
    expect(estimate.body).toMatchObject({ fids: 2 });
  });

  test("results of a schedule compare its texts", async () => {
    addPeople(60);
    const { schedule_id: id } = (await schedule({ variants: [{ title: "A" }, { title: "B" }] })).body
      .schedule;
    await decided(id);
    await campaignsOf(id);
    const { body } = await resultsOf(`schedule_id=${id}`);
    const [a, b] = body.variants;
    expect(a.delivered + b.delivered).toBe(60);
    expect(body).toMatchObject({ results: { delivered: 60, opened: 0 }, likely_better: null });
    expect((await resultsOf(`schedule_id=${id}`, 4)).status).toBe(403);
    const { schedule: single } = (await schedule({ send_at: now() + HOUR })).body;
    expect((await resultsOf(`schedule_id=${single.schedule_id}`)).body.variants).toEqual([]);
    const listed = async (query: string) =>
      (await call("GET", `/frame/app/campaigns?app_id=${APP_ID}${query}`)).body.campaigns;
    expect(await listed("&grouped=true")).toMatchObject([
      { schedule_id: id, parts: 2, success_count: 60, status: "completed", audience_count: 60 },
    ]);
    expect(await listed("")).toMatchObject([
      { schedule_id: id, parts: 1 },
      { schedule_id: id, parts: 1 },
    ]);
  });
});
