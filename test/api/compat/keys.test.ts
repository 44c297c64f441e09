import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { keyRequired } from "../../../src/http/caller.ts";
import { type SignedApi, startSignedApi } from "../../support/signed-api.ts";
import { expectPromised, sdkClient, sdkError } from "./sdk.ts";

let stale: string | undefined;
const signed: SignedApi = await startSignedApi({
  compatPrefixes: ["farcaster"],
  staleReason: async () => stale,
});
const { url } = signed.api;
beforeEach(() => {
  stale = undefined;
  for (const table of ["api_keys", "apps", "webhooks"]) signed.api.state.sqlite.run(`DELETE FROM ${table}`);
});
afterAll(() => signed[Symbol.asyncDispose]());

async function keyWith(scopes: readonly string[], fid = 3, more: object = {}): Promise<string> {
  const body = { name: "k", scopes, ...more };
  const created = await signed.call({ method: "POST", path: "/api_key", body, fid });
  expect(created.status).toBe(200);
  return created.body.secret;
}

async function appOf(fid: number): Promise<{ app_id: string; secret: string }> {
  const body = { name: "App", app_url: "https://app.example/mini" };
  const { app } = (await signed.call({ method: "POST", path: "/frame/app", body, fid })).body;
  return { app_id: app.app_id, secret: app.send_secrets[0].value };
}

const clientOf = (apiKey: string) => sdkClient(url, { apiKey });
const INVALID = { status: 401, body: { message: keyRequired("x-api-key:") } };
const lacks = (scope: string) => ({ status: 403, body: { message: `the key lacks the scope "${scope}"` } });
const oneOff = (key: string) => key.slice(0, -1) + (key.endsWith("1") ? "2" : "1");

describe("reads", () => {
  const read = (apiKey: string) => clientOf(apiKey).fetchBulkUsers({ fids: [3] });

  test("need no key, but a key in the service's format must be valid and have the scope", async () => {
    const key = await keyWith(["read"]);
    for (const good of ["NONE", key, "5".repeat(64)]) expectPromised("fetchBulkUsers", await read(good));
    expect(await sdkError(read(oneOff(key)))).toEqual(INVALID);
    expect(await sdkError(read(key.slice(0, -1)))).toEqual(INVALID);
    expect(await sdkError(read(await keyWith(["write"])))).toEqual(lacks("read"));
  });

  test("of the service's own prefix ignore a key", async () => {
    const headers = { "x-api-key": oneOff(await keyWith(["read"])) };
    expect((await fetch(`${url}/v2/svc/user?fid=3`, { headers })).status).toBe(200);
    expect((await fetch(`${url}/v1/info`, { headers })).status).toBe(200);
  });

  test("a cached response is not sent with an invalid key", async () => {
    const headers = { "x-api-key": oneOff(await keyWith(["read"])) };
    const ask = (init = {}) => fetch(`${url}/v2/farcaster/user/bulk?fids=4`, init);
    for (let n = 0; n < 4; n += 1) expect((await ask()).status).toBe(200);
    const refused = await ask({ headers });
    expect([
      refused.status,
      refused.headers.get("cache-control"),
      refused.headers.get("x-error-code"),
    ]).toEqual([401, "no-store", "invalid_key"]);
  });

  test("keep working while the index is behind", async () => {
    const key = await keyWith(["read"]);
    stale = "the index is behind";
    expectPromised("fetchBulkUsers", await read(key));
  });
});

describe("webhooks by key", () => {
  const fields = { name: "hook", url: "https://hook.example/in", subscription: { "user.created": {} } };

  test("all six calls act for the owner of the key", async () => {
    const client = clientOf(await keyWith(["webhooks"]));
    const created = await client.publishWebhook(fields);
    expectPromised("publishWebhook", created);
    const webhookId = created.webhook?.webhook_id ?? "";
    const listed = await client.fetchWebhooks();
    expectPromised("fetchWebhooks", listed);
    expect(listed.webhooks.map(({ webhook_id }) => webhook_id)).toEqual([webhookId]);
    expectPromised("lookupWebhook", await client.lookupWebhook({ webhookId }));
    expectPromised("updateWebhook", await client.updateWebhook({ ...fields, webhookId, name: "new" }));
    expectPromised(
      "updateWebhookActiveStatus",
      await client.updateWebhookActiveStatus({ webhookId, active: "false" }),
    );
    expectPromised("deleteWebhook", await client.deleteWebhook({ webhookId }));
  });

  test("another owner's key, one without the scope, and none are refused", async () => {
    const client = clientOf(await keyWith(["webhooks"]));
    const webhookId = (await client.publishWebhook(fields)).webhook?.webhook_id ?? "";
    const foreign = clientOf(await keyWith(["webhooks"], 4));
    expect((await sdkError(foreign.lookupWebhook({ webhookId }))).status).toBe(403);
    expect((await sdkError(foreign.deleteWebhook({ webhookId }))).status).toBe(403);
    expect((await foreign.fetchWebhooks()).webhooks).toEqual([]);
    const reader = clientOf(await keyWith(["read", "apps"]));
    expect(await sdkError(reader.fetchWebhooks())).toEqual(lacks("webhooks"));
    expect(await sdkError(clientOf("NONE").fetchWebhooks())).toEqual(INVALID);
    expect((await fetch(`${url}/v2/farcaster/webhook/list`)).status).toBe(401);
  });

  test("an owner_fid in the query has to be the key's owner", async () => {
    const headers = { "x-api-key": await keyWith(["webhooks"]) };
    const ask = async (query: string) =>
      (await fetch(`${url}/v2/farcaster/webhook/list?${query}`, { headers })).status;
    expect([
      await ask("owner_fid=3"),
      await ask("owner_fid=4"),
      await ask("owner_fid=3&owner_fid=4"),
    ]).toEqual([200, 403, 403]);
  });

  test("a signature header takes precedence over the key, and keys are ignored under the service's own prefix", async () => {
    const key = await keyWith(["webhooks"]);
    const ask = async (path: string, headers: Record<string, string>) =>
      (await fetch(`${url}/v2/${path}`, { headers: { "x-api-key": key, ...headers } })).json();
    const missing = (name: string) => ({ message: expect.stringContaining(`missing header ${name} (`) });
    expect(await ask("farcaster/webhook/list", { "x-svc-fid": "3" })).toEqual(missing("X-Svc-Op"));
    expect(await ask("svc/webhook/list", {})).toEqual(missing("X-Svc-Fid"));
  });

  test("wait while the index is behind, because the fid may have a new owner", async () => {
    const client = clientOf(await keyWith(["webhooks", "apps"]));
    stale = "the index is behind";
    expect(await sdkError(client.fetchWebhooks())).toEqual({
      status: 503,
      body: { message: "this key has to wait: the index is behind" },
    });
  });
});

describe("mini apps by key", () => {
  test("the scope `apps` manages the apps of the owner", async () => {
    const { app_id } = await appOf(3);
    const headers = { "x-api-key": await keyWith(["apps"]) };
    const listed = await fetch(`${url}/v2/farcaster/frame/app/list/`, { headers });
    expect((await listed.json()) as object).toMatchObject({ apps: [{ app_id }] });
    const withoutScope = { "x-api-key": await keyWith(["push"]) };
    expect((await fetch(`${url}/v2/farcaster/frame/app/list`, { headers: withoutScope })).status).toBe(403);
  });

  test("a key cannot manage keys", async () => {
    const key = await keyWith(["read", "write", "signers", "webhooks", "apps", "push"]);
    for (const prefix of ["svc", "farcaster"]) {
      const response = await fetch(`${url}/v2/${prefix}/api_key/list`, { headers: { "x-api-key": key } });
      expect([401, 404]).toContain(response.status);
    }
  });
});

describe("push by key", () => {
  const notification = { title: "t", body: "b", target_url: "https://app.example/mini" };
  const calls = (apiKey: string) => {
    const client = clientOf(apiKey);
    return [
      () => client.publishFrameNotifications({ targetFids: [], notification }),
      () => client.getNotificationCampaignStats({}),
      () => client.fetchNotificationTokens({}),
    ] as const;
  };

  test("the owner's only app, or the send secret, sends and reads its campaigns and tokens", async () => {
    const { secret } = await appOf(3);
    for (const apiKey of [await keyWith(["push"]), secret]) {
      const [send, campaigns, tokens] = calls(apiKey);
      const sent = await send();
      expectPromised("publishFrameNotifications", sent);
      const found = await campaigns();
      expectPromised("getNotificationCampaignStats", found);
      expectPromised("fetchNotificationTokens", await tokens());
    }
    const [send] = calls(await keyWith(["apps"]));
    expect(await sdkError(send())).toEqual(lacks("push"));
  });

  test("a key whose owner has no app says so", async () => {
    const [send] = calls(await keyWith(["push"], 4));
    expect(await sdkError(send())).toEqual({
      status: 400,
      body: { message: "the key's owner has no app: register one first" },
    });
  });

  test("with two apps, the key or the query must name the app", async () => {
    const [one, two] = [await appOf(3), await appOf(3)];
    for (const call of calls(await keyWith(["push"]))) {
      expect(await sdkError(call())).toEqual({
        status: 400,
        body: { message: "the key's owner has several apps: name one as query parameter app_id" },
      });
    }
    const foreign = await appOf(4);
    const status = async (key: string, appId: string) =>
      (
        await fetch(`${url}/v2/farcaster/frame/notification_tokens?app_id=${appId}`, {
          headers: { "x-api-key": key },
        })
      ).status;
    const [any, bound] = [await keyWith(["push"]), await keyWith(["push"], 3, { app_id: two.app_id })];
    expect([await status(any, one.app_id), await status(any, foreign.app_id)]).toEqual([200, 403]);
    expect([await status(bound, two.app_id), await status(bound, one.app_id)]).toEqual([200, 403]);
    expectPromised("fetchNotificationTokens", await calls(bound)[2]());
  });
});
