import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { shortJson } from "../support/case-name.ts";
import { allServed, startPushClient } from "../support/push-client.ts";
import { APP_ID, notification, SECRET, type SendApi, startSendApi, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

/** Shared by tests that do not change it: no token, one app with one secret. */
let shared: SendApi;
beforeAll(async () => {
  shared = await startSendApi();
});
afterAll(() => shared[Symbol.asyncDispose]());

const campaignRows = () => shared.signed.rowCounts().campaigns ?? -1;
const withNotification = (changes: object) => ({ notification: { ...notification, ...changes } });

describe("authentication of a send", () => {
  test("an unknown app is 404 before the key is verified, an invalid key 401 before the body, an invalid body 400", async () => {
    const broken = "{";
    const before = campaignRows();
    expect((await shared.send(broken, { appId: "nobody", key: null })).status).toBe(404);
    expect((await shared.send(broken, { key: null })).status).toBe(401);
    expect((await shared.send(broken, { key: "" })).status).toBe(401);
    expect((await shared.send(broken, { key: "6".repeat(64) })).status).toBe(401);
    expect((await shared.send(broken)).status).toBe(400);
    expect((await shared.send("")).status).toBe(400);
    expect(campaignRows()).toBe(before);
  });

  test.each([
    ["a digit too short", "5".repeat(63)],
    ["a digit too long", "5".repeat(65)],
    ["another in its first digit", "5".repeat(64).replace("5", "6")],
    ["followed by a second word", `${SECRET} x`],
    ["not ASCII", "ü"],
    ["8,000 characters long", "x".repeat(8000)],
  ])("a key that is %s is 401", async (_name, key) => {
    expect((await shared.send({}, { key: encodeURIComponent(key) })).status).toBe(401);
  });

  test("the key of another app is 401", async () => {
    const secrets = [{ uid: "u", value: "7".repeat(64), createdAt: 1, expiresAt: null }];
    await localStores(shared.state).apps.create(testApp({ appId: "other", secrets }), 10);
    expect((await shared.send({}, { key: "7".repeat(64) })).status).toBe(401);
    expect((await shared.send({}, { key: "7".repeat(64), appId: "other" })).status).toBe(200);
  });

  test("a rotated secret is valid until its expires_at and not one second longer, as is the previous one", async () => {
    await using api = await startSendApi();
    const rotate = () =>
      api.signed.call({ method: "POST", path: `/frame/app/secret/rotate?app_id=${APP_ID}` });
    const { clock } = api.signed.api.node;
    const first = await rotate();
    const second: string = first.body.app.send_secrets.at(-1).value;
    clock.advanceSecs(100);
    const third: string = (await rotate()).body.app.send_secrets.at(-1).value;
    const statuses = async () =>
      (await Promise.all([SECRET, second, third].map((key) => api.send({}, { key })))).map(
        ({ status }) => status,
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    clock.advanceSecs(86_400 - 101);
    expect(await statuses()).toEqual([200, 200, 200]);
    clock.advanceSecs(1);
    expect(await statuses()).toEqual([401, 200, 200]);
    clock.advanceSecs(99);
    expect(await statuses()).toEqual([401, 200, 200]);
    clock.advanceSecs(1);
    expect(await statuses()).toEqual([401, 401, 200]);
  });

  test("a deleted app is 404", async () => {
    await using api = await startSendApi();
    await api.signed.call({ method: "DELETE", path: `/frame/app?app_id=${APP_ID}` });
    expect((await api.send()).status).toBe(404);
  });
});

/** Returns the value of a field in a body; the body itself where it has no such field. */
function valueAt(field: string, body: string | object): unknown {
  const value: unknown = typeof body === "string" && body.startsWith("{") ? JSON.parse(body) : body;
  return field === "request body" ? value : field.split(".").reduce(memberOf, value);
}

const memberOf = (value: unknown, key: string): unknown => Object(value)[key];

describe("the body", () => {
  const https = (rest: string) => withNotification({ target_url: rest });
  const bad: readonly (readonly [field: string, body: string | object])[] = [
    ["request body", "[]"],
    ["request body", '"text"'],
    ["notification", JSON.stringify({ notification: null })],
    ["notification", JSON.stringify({})],
    ["notification.title", withNotification({ title: undefined })],
    ["notification.title", withNotification({ title: "" })],
    ["notification.title", withNotification({ title: 5 })],
    ["notification.title", withNotification({ title: "🎈".repeat(33) })],
    ["notification.title", withNotification({ title: "\ud800" })],
    ["notification.body", withNotification({ body: "" })],
    ["notification.body", withNotification({ body: "b".repeat(129) })],
    ["notification.target_url", withNotification({ target_url: undefined })],
    ["notification.target_url", https("http://app.example/")],
    ["notification.target_url", https("https://app.example.evil.example/")],
    ["notification.target_url", https("https://www.app.example/")],
    ["notification.target_url", https("https://app.example:8443/")],
    ["notification.target_url", https("https://app.example@evil.example/")],
    ["notification.target_url", https("https://user@app.example/")],
    ["notification.target_url", https("https://app.example\\@evil.example/")],
    ["notification.target_url", https("https://app.example/\u2066a")],
    ["notification.target_url", https("https://app.example/\u{e0041}")],
    ["notification.target_url", https("//app.example/")],
    ["notification.target_url", https("https:app.example/")],
    ["notification.target_url", https("https://app.example/a b")],
    ["notification.target_url", https(" https://app.example/")],
    ["notification.target_url", https(`https://app.example/${"x".repeat(237)}`)],
    ["notification.uuid", withNotification({ uuid: "" })],
    ["notification.uuid", withNotification({ uuid: 7 })],
    ["notification.uuid", withNotification({ uuid: "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a1" })],
    ["notification.uuid", withNotification({ uuid: "0b6d9d1e4b7c-4a3f-9a51-1f6f0c7c2a10" })],
    ["notification.uuid", withNotification({ uuid: "{0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10" })],
    ["notification.uuid", withNotification({ uuid: "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a1g" })],
    ["target_fids", { target_fids: null }],
    ["target_fids", { target_fids: "1" }],
    ["target_fids", { target_fids: [1, "2"] }],
    ["target_fids", { target_fids: [1.5] }],
    ["target_fids", { target_fids: [-1] }],
    ["target_fids", { target_fids: [1e30] }],
    ["exclude_fids", { exclude_fids: {} }],
    ["exclude_fids", { exclude_fids: [true] }],
    ["following_fid", { following_fid: "3" }],
    ["minimum_user_score", { minimum_user_score: "high" }],
  ];
  const named = bad.map(([field, body]) => [field, shortJson(valueAt(field, body)), body] as const);
  test.each(named)("%s: %s is 400, naming the field, and nothing is stored", async (field, _value, body) => {
    const before = campaignRows();
    const response = await shared.send(body as string);
    expect(response.status).toBe(400);
    expect(response.body.message).toContain(field);
    expect(campaignRows()).toBe(before);
  });

  test.each([
    ["32 and 128 emoji", withNotification({ title: "🎈".repeat(32), body: "🎈".repeat(128) })],
    ["a URL of 256 characters", https(`https://app.example/${"x".repeat(236)}`)],
    ["a host in upper case, a port, a query and a fragment", https("https://APP.example:443/path?q=1#f")],
    ["a scheme in upper case and no path", https("HTTPS://app.example")],
    ["null as uuid", withNotification({ uuid: null })],
    ["an unknown field and empty lists", { unknown: "field", target_fids: [], exclude_fids: [] }],
  ] as const)("with %s is accepted", async (_name, body) => {
    expect((await shared.send(body)).status).toBe(200);
  });

  test("any spelling of a uuid is the same notification", async () => {
    await using api = await startSendApi();
    await using client = startPushClient();
    api.addTokens([{ fid: 10, url: `http://c.example:${client.port}/`, token: "t" }]);
    const forms = [
      "0B6D9D1E-4B7C-4A3F-9A51-1F6F0C7C2A10",
      "0b6d9d1e4b7c4a3f9a511f6f0c7c2a10",
      "{0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10}",
      "urn:uuid:0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10",
    ];
    const responses = [];
    for (const uuid of forms) responses.push(await api.send(withNotification({ uuid })));
    expect(responses.map(({ body }) => body.success_count)).toEqual([1, 0, 0, 0]);
    expect(client.requests.map(({ notificationId }) => notificationId)).toEqual([
      "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10",
    ]);
  });

  test("is 413 above 1 MB", async () => {
    const fids = Array.from({ length: 150_000 }, (_, at) => at + 1_000_000);
    const response = await shared.send({ target_fids: fids });
    expect(response.status).toBe(413);
  });

  test("the port of the app's URL must match", async () => {
    const app = testApp({ appId: "withPort", appUrl: "https://App.example:8443/home" });
    await localStores(shared.state).apps.create(
      { ...app, secrets: [{ ...app.secrets[0], uid: "p" } as never] },
      10,
    );
    const send = (target_url: string) => shared.send(withNotification({ target_url }), { appId: "withPort" });
    expect((await send("https://app.example:8443/x")).status).toBe(200);
    expect((await send("https://app.example/x")).status).toBe(400);
  });
});

describe("the response", () => {
  test("waits for a client longer than the idle timeout", async () => {
    await using slow = await startSendApi({
      timings: { timeoutMs: 10_000 },
      http: { idle_timeout_secs: 1 },
    });
    await using client = startPushClient(async (request, nth) => {
      await Bun.sleep(2_500);
      return allServed(request, nth);
    });
    slow.addTokens([{ fid: 10, url: `http://c.example:${client.port}/`, token: "t" }]);
    expect((await slow.send()).body.success_count).toBe(1);
  }, 180_000);

  test.each(["respond-async", "Respond-Async; wait=5", "wait=10, respond-async", "respond-async=1"])(
    "with Prefer: %s arrives at once, and the campaign runs on",
    async (prefer) => {
      await using api = await startSendApi();
      const gate = Promise.withResolvers<void>();
      await using client = startPushClient(async (request, nth) => {
        await gate.promise;
        return allServed(request, nth);
      });
      api.addTokens([{ fid: 10, url: `http://c.example:${client.port}/`, token: "t" }]);
      const response = await api.send({}, { headers: { prefer } });
      expect([response.status, response.body.status]).toEqual([202, "queued"]);
      expect(response.headers.get("preference-applied")).toBe("respond-async");
      const id = response.body.campaign_id;
      expect(["queued", "running"]).toContain((await api.campaign(id)).status);
      gate.resolve();
      while ((await api.campaign(id)).status !== "completed") await Bun.sleep(5);
      expect((await api.campaign(id)).success_count).toBe(1);
    },
  );

  test.each(["respond-asynchronously", "wait=5", "x; respond-async"])(
    "Prefer: %s has no effect",
    async (prefer) => {
      expect((await shared.send({}, { headers: { prefer } })).status).toBe(200);
    },
  );

  test("is 429 for an app with a hundred running campaigns", async () => {
    const gate = Promise.withResolvers<void>();
    await using client = startPushClient(async (request, nth) => {
      await gate.promise;
      return allServed(request, nth);
    });
    await using patient = await startSendApi({ timings: { timeoutMs: 60_000 } });
    patient.addTokens([{ fid: 10, url: `http://c.example:${client.port}/`, token: "t" }]);
    const headers = { prefer: "respond-async" };
    for (let at = 0; at < 100; at++) expect((await patient.send({}, { headers })).status).toBe(202);
    expect((await patient.send({}, { headers })).status).toBe(429);
    gate.resolve();
    while ((await patient.send({}, { headers })).status === 429) await Bun.sleep(20);
  }, 180_000);

  test("a client that disconnects does not stop the campaign", async () => {
    const arrived = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await using client = startPushClient(async (request, nth) => {
      arrived.resolve();
      await gate.promise;
      return allServed(request, nth);
    });
    await using patient = await startSendApi({ timings: { timeoutMs: 10_000 } });
    patient.addTokens([{ fid: 10, url: `http://c.example:${client.port}/`, token: "t" }]);
    const gone = new AbortController();
    const call = fetch(`${patient.signed.api.url}/v2/svc/frame/notifications/${APP_ID}`, {
      method: "POST",
      headers: { "x-api-key": SECRET },
      body: JSON.stringify({ notification }),
      signal: gone.signal,
    });
    await arrived.promise;
    gone.abort();
    await expect(call).rejects.toThrow();
    gate.resolve();
    const list = () => patient.signed.call({ method: "GET", path: `/frame/app/campaigns?app_id=${APP_ID}` });
    while ((await list()).body.campaigns[0].status !== "completed") await Bun.sleep(5);
    expect((await list()).body.campaigns[0].success_count).toBe(1);
  });
});
