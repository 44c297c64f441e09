import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createAudienceService } from "../../src/push/audience-service.ts";
import { estimateSend } from "../../src/push/estimate.ts";
import type { Selection } from "../../src/push/selection.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { CLIENT_A, CLIENT_B, details, startPushApi } from "../support/push.ts";
import { nested, startPushClient } from "../support/push-client.ts";
import { APP_ID, type SendApi, startSendApi, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

const everyone: Selection = () => async (tokens) => ({
  tokens,
  notAttempted: { excluded: 0, not_following: 0, not_in_segment: 0 },
});
const notification = { title: "T", body: "B", target_url: "https://app.example/x" };
const UUID = "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10";

test("the audience counts an app's tokens by client, and what envelopes changed today", async () => {
  await using push = await startPushApi();
  const { signed, appId } = push;
  const get = async (path: string, fid = 3) => signed.call({ method: "GET", path, fid });
  const today = new Date(signed.nowSecs() * 1000).toISOString().slice(0, 10);
  const empty = { day: today, enabled: 0, added: 0, removed: 0, disabled: 0, invalidated: 0 };
  expect((await get(`/frame/app/audience?app_id=${appId}`)).body).toEqual({
    total: 0,
    clients: [],
    client_count: 0,
    days: [empty],
  });
  const added = (token: string) => ({ event: "miniapp_added", notificationDetails: details(token) });
  await push.report(added("a"));
  await push.report(added("b"), { clientFid: CLIENT_B });
  await push.report(added("c"), { fid: 6 });
  await push.report({ event: "miniapp_added" }, { fid: 7 });
  await push.report({ event: "notifications_disabled" }, { fid: 6 });
  const { status, body } = await get(`/frame/app/audience?app_id=${appId}&days=400`);
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      total: 2,
      clients: [
        { client_fid: CLIENT_A, host: "client.example", enabled: 1, disabled: 1, without_token: 0 },
        { client_fid: CLIENT_A, host: null, enabled: 0, disabled: 0, without_token: 1 },
        { client_fid: CLIENT_B, host: "client.example", enabled: 1, disabled: 0, without_token: 0 },
      ],
      client_count: 3,
      days: [{ ...empty, enabled: 2, added: 3, disabled: 1 }],
    },
  });
  const retention = (await get(`/frame/app/retention?app_id=${appId}`)).body;
  expect(retention).toEqual({ weeks: [{ week: expect.any(Number), added: 4, reachable: [] }] });
  const week = new Date(1000 * retention.weeks[0].week);
  expect([week.getUTCDay(), week.getTime() % 86_400_000]).toEqual([1, 0]);
  expect((await get(`/frame/app/retention?app_id=${appId}`, 4)).status).toBe(403);
  expect((await get(`/frame/app/retention?app_id=${appId}&weeks=58`)).status).toBe(400);
  expect((await get(`/frame/app/audience?app_id=${appId}`, 4)).status).toBe(403);
  expect((await get("/frame/app/audience?app_id=nobody")).status).toBe(404);
  for (const days of ["0", "401", "x"]) {
    expect((await get(`/frame/app/audience?app_id=${appId}&days=${days}`)).status).toBe(400);
  }
});

describe("a send by the owner", () => {
  let api: SendApi;
  beforeEach(async () => {
    api = await startSendApi();
  });
  afterEach(() => api[Symbol.asyncDispose]());
  const post = (path: string, body: object, fid = 3) => api.signed.call({ method: "POST", path, body, fid });
  const send = (body: object = {}, fid = 3) =>
    post("/frame/app/campaign", { app_id: APP_ID, notification, ...body }, fid);
  const estimate = (body: object = {}, fid = 3) =>
    post("/frame/app/campaign/estimate", { app_id: APP_ID, ...body }, fid);
  async function ended(campaignId: string) {
    for (;;) {
      const campaign = await api.campaign(campaignId);
      if (campaign.completed_at !== null) return campaign;
    }
  }

  test("needs no send secret, and its audience equals the sum of its counts at the end", async () => {
    await using client = startPushClient(({ tokens }) => nested({ successful: tokens }));
    const url = `http://c.example:${client.port}/`;
    api.addTokens([1, 2, 3, 4].map((fid) => ({ fid, url, token: `t${fid}` })));
    const { status, body } = await send({ exclude_fids: [4] });
    expect({ status, body }).toEqual({
      status: 202,
      body: { campaign_id: body.campaign_id, status: "queued" },
    });
    const campaign = await ended(body.campaign_id);
    expect(campaign).toMatchObject({
      success_count: 3,
      not_attempted_count: 1,
      audience_count: 4,
      tokens_per_second: null,
    });
    expect(client.requests.flatMap(({ tokens }) => tokens).sort()).toEqual(["t1", "t2", "t3"]);
  });

  test("shows while running how many tokens it will settle, and how fast", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await using client = startPushClient(async ({ tokens }) => {
      await held;
      return nested({ successful: tokens });
    });
    const url = `http://c.example:${client.port}/`;
    api.addTokens([1, 2, 3].map((fid) => ({ fid, url, token: `t${fid}` })));
    for (const target_fids of [[], [1, 2]]) {
      const { body } = await send({ target_fids });
      const expected = target_fids.length === 0 ? 3 : 2;
      for (;;) {
        const campaign = await api.campaign(body.campaign_id);
        if (campaign.audience_count === null) continue;
        expect(campaign).toMatchObject({
          status: "running",
          audience_count: expected,
          tokens_per_second: 0,
        });
        break;
      }
    }
    release();
  });

  test.each([
    ["another fid", { app_id: APP_ID }, 4, 403, "the app belongs to another fid"],
    ["an unknown app", { app_id: "nobody" }, 3, 404, "no such app"],
    ["no app", { app_id: undefined }, 3, 400, "missing field app_id"],
    [
      "a foreign host",
      { notification: { ...notification, target_url: "https://b.example" } },
      3,
      400,
      "notification.target_url must be on the host of the app, app.example",
    ],
    [
      "a long title",
      { notification: { ...notification, title: "x".repeat(33) } },
      3,
      400,
      "notification.title must have 1 to 32 characters",
    ],
  ])("of %s is refused", async (_, input, fid, status, message) => {
    for (const refused of [await send(input, fid), await estimate({ notification, ...input }, fid)]) {
      expect({ status: refused.status, body: refused.body }).toEqual({ status, body: { message } });
    }
    expect(
      (await api.signed.call({ method: "GET", path: `/frame/app/campaigns?app_id=${APP_ID}` })).body
        .campaigns,
    ).toEqual([]);
  });

  test("requires the operation app.send, and at most 100 campaigns may be unfinished", async () => {
    const path = "/frame/app/campaign";
    const call = { method: "POST", path, body: { app_id: APP_ID, notification } } as const;
    expect((await api.signed.call({ ...call, op: "app.read" })).status).toBe(400);
    expect((await api.signed.send(call, {})).status).toBe(401);
    const insert = api.state.sqlite.query(
      `INSERT INTO campaigns (campaign_id, app_id, dedupe_key, notification_id, title, body, target_url, status,
         success_count, failure_count, not_attempted_count, created_at, not_before_ms)
       VALUES (?, ?, 1, 'n', 't', 'b', 'u', 'queued', 0, 0, 0, 1, 9e15)`,
    );
    for (let at = 0; at < 100; at++) insert.run(`c${at}`, APP_ID);
    expect(await send()).toEqual({
      status: 429,
      body: { message: "an app may have at most 100 campaigns under way" },
    });
  });

  test("an estimate equals the sum of the outcomes, with every filter", async () => {
    await using a = startPushClient(({ tokens }) => nested({ successful: tokens }));
    await using b = startPushClient(({ tokens }) => nested({ rateLimited: tokens }));
    api.addTokens([
      ...[1, 2, 3, 4].map((fid) => ({ fid, url: `http://c.example:${a.port}/`, token: `a${fid}` })),
      ...[3, 4, 5].map((fid) => ({
        fid,
        clientFid: 5,
        url: `http://c.example:${b.port}/`,
        token: `b${fid}`,
      })),
      { fid: 6, url: `http://c.example:${a.port}/`, token: "off", enabled: false },
    ]);
    const hosts = { a: `c.example:${a.port}`, b: `c.example:${b.port}` };
    expect((await estimate()).body).toEqual({
      tokens: 7,
      fids: 5,
      clients: [
        { client_fid: 9152, host: hosts.a, tokens: 4 },
        { client_fid: 5, host: hosts.b, tokens: 3 },
      ],
      sent_before: 0,
    });
    const some = { target_fids: [5, 4, 4, 6, 99], exclude_fids: [5] };
    expect((await estimate(some)).body).toMatchObject({ tokens: 2, fids: 1 });
    expect((await estimate({ following_fid: 3 })).body).toEqual({
      tokens: 0,
      fids: 0,
      clients: [],
      sent_before: 0,
    });

    const named = { notification: { ...notification, uuid: UUID } };
    const first = await ended((await send({ ...named, ...some })).body.campaign_id);
    expect(first.success_count + first.failure_count).toBe(2);
    // The rate-limited token of fid 4 may be sent to again.
    expect((await estimate({ ...named, ...some })).body).toMatchObject({ tokens: 2, sent_before: 1 });
    const all = (await estimate(named)).body;
    expect(all).toMatchObject({ tokens: 7, sent_before: 1 });
    const second = await ended((await send(named)).body.campaign_id);
    expect(second.success_count + second.failure_count).toBe(all.tokens - all.sent_before);
    expect(second.not_attempted).toEqual({ duplicate: all.sent_before });
  });

  test("an estimate that has run out of time reads no further page", async () => {
    const stores = localStores(api.state);
    const timeout = new AbortController();
    let pages = 0;
    const tokens = {
      ...stores.tokens,
      async listAudience() {
        pages += 1;
        if (pages === 2) timeout.abort(new Error("too late"));
        return Array.from({ length: 2000 }, (_, at) => ({ fid: at, clientFid: 1, host: "h" }));
      },
    };
    const audience = { targetFids: [], excludeFids: [], followingFid: null };
    const estimated = estimateSend(
      {
        tokens,
        campaigns: stores.campaigns,
        selection: everyone,
      },
      { appId: APP_ID, ownerFid: 1 },
      { audience, uuid: undefined },
      timeout.signal,
    );
    await expect(estimated).rejects.toThrow("too late");
    expect(pages).toBe(2);
  });

  test("an estimate that takes too long is 503, and too many at once are refused at once", async () => {
    const stores = localStores(api.state);
    const app = testApp();
    const slow = createAudienceService({
      apps: { get: async () => ({ ok: true, value: app }) } as never,
      tokens: {
        ...stores.tokens,
        listAudience: async () =>
          Array.from({ length: 2000 }, (_, at) => ({ fid: at, clientFid: 1, host: "h" })),
      },
      campaigns: stores.campaigns,
      selection: everyone,
      saved: { withSegment: async (_, audience) => ({ ok: true, value: audience }) },
      clock: systemClock,
      estimateTimeoutMs: 50,
    });
    const results = await Promise.all([...Array(30)].map(() => slow.estimate(3, { app_id: APP_ID })));
    expect(results.every((result) => result.ok && result.value === "busy")).toBe(true);
  });
});
