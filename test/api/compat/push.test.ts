import { afterAll, beforeEach, expect, test } from "bun:test";
import { nested, startPushClient } from "../../support/push-client.ts";
import { APP_ID, insertTokens, notification, SECRET, startSendApi, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import { expectPromised, sdkClient, sdkError } from "./sdk.ts";

const api = await startSendApi({ compatPrefixes: ["farcaster"] });
const { url } = api.signed.api;
const client = sdkClient(url, { apiKey: SECRET });
const clock = api.signed.api.node.clock;
beforeEach(() => api.reset());
afterAll(() => api[Symbol.asyncDispose]());

const OTHER_SECRET = "7".repeat(64);
await localStores(api.state).apps.create(
  testApp({
    appId: "otherApp11111111",
    secrets: [{ uid: crypto.randomUUID(), value: OTHER_SECRET, createdAt: 1, expiresAt: null }],
  }),
  10,
);

const sent = { title: notification.title, body: notification.body, target_url: notification.target_url };

/** Sends a request as older clients do, without the SDK. */
async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(`${url}/v2/farcaster${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown>, response };
}

test("a send goes to the app of the key, and returns the result of each token", async () => {
  await using push = startPushClient(({ tokens }) =>
    nested({
      successful: tokens.filter((token) => token === "good"),
      invalid: tokens.filter((token) => token === "gone"),
      rateLimited: tokens.filter((token) => token === "busy"),
      failed: tokens
        .filter((token) => token === "astray")
        .map((token) => ({ token, reason: "domain_mismatch" })),
    }),
  );
  await using broken = startPushClient(() => new Response("no", { status: 403 }));
  const at = (port: number) => `http://c.example:${port}/`;
  api.addTokens([
    { fid: 10, token: "good", url: at(push.port) },
    { fid: 11, token: "gone", url: at(push.port) },
    { fid: 12, token: "busy", url: at(push.port) },
    { fid: 13, token: "astray", url: at(push.port), clientFid: 309857 },
    { fid: 14, token: "unheard", url: at(push.port) },
    { fid: 15, token: "refused", url: at(broken.port) },
    { fid: 16, token: "theirs", url: at(push.port), appId: "otherApp11111111" },
    { fid: 17, token: "excluded", url: at(push.port) },
  ]);
  const body = await client.publishFrameNotifications({
    targetFids: [],
    notification: sent,
    filters: { exclude_fids: [17] },
  });
  expectPromised("publishFrameNotifications", body);
  expect(body.campaign_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(body).toMatchObject({
    success_count: 1,
    failure_count: 5,
    not_attempted_count: 1,
    retryable_fids: [12],
  });
  const { notification_deliveries: deliveries } = body as unknown as {
    notification_deliveries: { object: string; fid: number; app_fid: number; status: string }[];
  };
  expect(deliveries.sort((a, b) => a.fid - b.fid)).toEqual(
    (
      [
        [10, 9152, "success"],
        [11, 9152, "invalid_token"],
        [12, 9152, "rate_limited"],
        [13, 309857, "invalid_target_url"],
        [14, 9152, "failed"],
        [15, 9152, "http_error"],
      ] as const
    ).map(([fid, app_fid, status]) => ({ object: "notification_delivery", fid, app_fid, status })),
  );

  const stats = await client.getNotificationCampaignStats({ campaignId: body.campaign_id });
  expectPromised("getNotificationCampaignStats", stats);
  const time = new Date(clock.nowMs()).toISOString().replace(/\.\d{3}Z/, ".000Z");
  expect(stats).toEqual({
    notificationCampaigns: [
      {
        id: body.campaign_id,
        title: sent.title,
        body: sent.body,
        status: "completed",
        created_at: time,
        queued_at: time,
        completed_at: time,
        stats: {
          intended_recipient_app_fids: [9152, 309857],
          intended_recipient_notification_token_count: 7,
          successful_sends: 1,
          successful_sends_by_app_fid: { 9152: 1, 309857: 0 },
          error_breakdown: {
            delivery_errors: {
              failed_domain_mismatch: 1,
              invalid_token: 1,
              missing_from_response: 1,
              rate_limited: 1,
            },
            http_errors: { 403: 1 },
          },
          total_opens: 0,
          total_opens_by_app_fid: {},
          unique_opens: 0,
          unique_opens_by_app_fid: {},
        },
      },
    ],
    next: { cursor: null },
  });
});

test("a send without recipients has an empty list of deliveries, and one to many has no list", async () => {
  await using push = startPushClient();
  const nobody = await client.publishFrameNotifications({ targetFids: [99], notification: sent });
  expect(nobody).toMatchObject({ success_count: 0, notification_deliveries: [] });
  insertTokens(
    api.state,
    Array.from({ length: 101 }, (_, at) => ({
      fid: 100 + at,
      token: `t${at}`,
      url: `http://c.example:${push.port}/`,
    })),
  );
  const many = await client.publishFrameNotifications({ targetFids: [], notification: sent });
  expect(many.success_count).toBe(101);
  expect(many).not.toHaveProperty("notification_deliveries");
  const few = await client.publishFrameNotifications({ targetFids: [100, 101], notification: sent });
  expect(few).toMatchObject({ notification_deliveries: [{ fid: 100 }, { fid: 101 }] });
});

test("sends the same uuid to a user only once, and applies filters as the native send does", async () => {
  await using push = startPushClient();
  const at = `http://c.example:${push.port}/`;
  api.addTokens([20, 21].map((fid) => ({ fid, token: `t${fid}`, url: at })));
  const uuid = crypto.randomUUID();
  const send = (filters = {}) =>
    client.publishFrameNotifications({ targetFids: [], notification: { ...sent, uuid }, filters });
  expect(await send({ exclude_fids: [21] })).toMatchObject({ success_count: 1, not_attempted_count: 1 });
  expect(await send()).toMatchObject({ success_count: 1, not_attempted_count: 1 });
  expect(await send({ following_fid: 3 })).toMatchObject({ success_count: 0, not_attempted_count: 2 });
  expect(push.requests.map(({ tokens }) => tokens)).toEqual([["t20"], ["t21"]]);
});

test("with Prefer: respond-async a send is queued", async () => {
  const { status, body, response } = await ask("/frame/notifications/", {
    method: "POST",
    headers: { api_key: SECRET, prefer: "respond-async" },
    body: JSON.stringify({ notification: sent, target_fids: [] }),
  });
  expect(status).toBe(202);
  expect(response.headers.get("preference-applied")).toBe("respond-async");
  expect(body).toEqual({ campaign_id: expect.any(String), status: "queued" });
});

test.each<[object, string]>([
  [{ filters: [] }, "filters must be an object"],
  [{ filters: { exclude_fids: "3" } }, "exclude_fids must be an array"],
  [
    { filters: { exclude_fids: [1] }, exclude_fids: [2] },
    "exclude_fids stands both in the body and in filters",
  ],
  [{ filters: { minimum_user_score: "high" } }, "minimum_user_score must be a number"],
  [
    { notification: { ...sent, target_url: "https://evil.example/" } },
    "notification.target_url must be on the host",
  ],
])("%j is 400 with the reason", async (input, message) => {
  const body = JSON.stringify({ notification: sent, target_fids: [], ...input });
  const response = await ask("/frame/notifications", {
    method: "POST",
    headers: { "x-api-key": SECRET },
    body,
  });
  expect(response.status).toBe(400);
  expect(response.body.message).toStartWith(message);
});

test("is 401 without a key, with an unknown or expired key, and with a webhook's secret", async () => {
  const webhookSecret = (
    await api.signed.call({
      method: "POST",
      path: "/webhook?owner_fid=3",
      body: { name: "Hook", url: "https://hook.example", subscription: { user_created: {} } },
    })
  ).body.webhook.secrets[0].value;
  const unknown = { status: 401, body: { message: "x-api-key is not a send secret of an app" } };
  for (const apiKey of ["6".repeat(64), webhookSecret, SECRET.slice(1), "ü"].map(encodeURIComponent)) {
    const stranger = sdkClient(url, { apiKey });
    const send = stranger.publishFrameNotifications({ targetFids: [], notification: { ...sent, title: "" } });
    expect(await sdkError(send)).toEqual(unknown);
    expect(await sdkError(stranger.getNotificationCampaignStats({ campaignId: "x" }))).toEqual(unknown);
    expect(await sdkError(stranger.fetchNotificationTokens({ cursor: "x" }))).toEqual(unknown);
  }
  for (const [path, method] of [
    ["/frame/notifications", "POST"],
    ["/frame/notifications", "GET"],
    ["/frame/notification_tokens", "GET"],
  ] as const) {
    const none = await ask(path, { method });
    expect(none).toMatchObject({
      status: 401,
      body: { message: expect.stringMatching(/^missing header x-api-key: a send secret of the app/) },
    });
  }
});

test("a rotated secret identifies its app until the end of its grace period, and the new one at once", async () => {
  await using other = await startSendApi({
    compatPrefixes: ["farcaster"],
    settings: ["apps.secret_grace_period_secs=60"],
  });
  const rotate = { method: "POST", path: `/frame/app/secret/rotate?app_id=${APP_ID}` } as const;
  const fresh = (await other.signed.call(rotate)).body.app.send_secrets[1].value;
  const status = async (apiKey: string) => {
    const call = sdkClient(other.signed.api.url, { apiKey }).fetchNotificationTokens({});
    return call.then(
      () => 200,
      async () => (await sdkError(call)).status,
    );
  };
  expect([await status(SECRET), await status(fresh)]).toEqual([200, 200]);
  other.signed.api.node.clock.advanceSecs(60);
  expect([await status(SECRET), await status(fresh)]).toEqual([401, 200]);
});

test("lists only campaigns of the key's app, newest first, page by page", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) {
    ids.unshift((await client.publishFrameNotifications({ targetFids: [], notification: sent })).campaign_id);
  }
  const walked: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.getNotificationCampaignStats({ limit: 2, ...(cursor ? { cursor } : {}) });
    expectPromised("getNotificationCampaignStats", page);
    walked.push(...page.notificationCampaigns.map(({ id }) => id));
    cursor = page.next.cursor ?? undefined;
  } while (cursor);
  expect(walked).toEqual(ids);
  const stranger = sdkClient(url, { apiKey: OTHER_SECRET });
  for (const input of [{}, { campaignId: ids[0] ?? "" }]) {
    expect((await stranger.getNotificationCampaignStats(input)).notificationCampaigns).toEqual([]);
  }
  expect((await client.getNotificationCampaignStats({ limit: 100_000 })).notificationCampaigns).toHaveLength(
    5,
  );
});

test("lists complete tokens, of all fids or of some, page by page", async () => {
  const at = "https://c.example/notify";
  api.addTokens([
    ...[30, 31, 32].map((fid) => ({ fid, token: `t${fid}`, url: at, enabled: fid !== 31 })),
    { fid: 30, token: "second", url: at, clientFid: 309857 },
    { fid: 33, token: "theirs", url: at, appId: "otherApp11111111" },
  ]);
  api.state.sqlite.run(
    "INSERT INTO tokens (app_id, fid, client_fid, enabled, last_event, created_at, updated_at) VALUES (?, 34, 1, 0, 'miniapp_added', 5, 6)",
    [APP_ID],
  );
  const walk = async (input: { fids?: number[] }) => {
    const items = [];
    let cursor: string | undefined;
    do {
      const page = await client.fetchNotificationTokens({
        limit: 2,
        ...input,
        ...(cursor ? { cursor } : {}),
      });
      expectPromised("fetchNotificationTokens", page);
      items.push(...page.notification_tokens);
      cursor = page.next.cursor ?? undefined;
    } while (cursor);
    return items;
  };
  const row = (fid: number, token: string, status = "enabled") => ({
    object: "notification_token",
    fid,
    status,
    url: at,
    token,
    created_at: "1970-01-01T00:00:01.000Z",
    updated_at: "1970-01-01T00:00:01.000Z",
  });
  const first = [row(30, "t30"), row(30, "second"), row(31, "t31", "disabled"), row(32, "t32")];
  const bare = {
    object: "notification_token",
    fid: 34,
    status: "disabled",
    created_at: "1970-01-01T00:00:05.000Z",
    updated_at: "1970-01-01T00:00:06.000Z",
  };
  expect(await walk({})).toEqual([...first, bare] as never);
  expect(await walk({ fids: [31, 30, 33, 31] })).toEqual(first.slice(0, 3) as never);
  expect(await sdkError(client.fetchNotificationTokens({ cursor: "garbage" }))).toMatchObject({
    status: 400,
  });
});

test("responses to a key are no-store", async () => {
  const { response } = await ask("/frame/notification_tokens", { headers: { "x-api-key": SECRET } });
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("the native prefix has no such path", async () => {
  for (const path of ["notifications", "notification_tokens"]) {
    const response = await fetch(`${url}/v2/svc/frame/${path}`, { headers: { "x-api-key": SECRET } });
    expect(response.status).toBe(404);
  }
});
