import { afterAll, beforeEach, expect, test } from "bun:test";
import type { NeynarAPIClient } from "@neynar/nodejs-sdk";
import { keyRequired } from "../../../src/http/caller.ts";
import { documentedSigningAxios } from "../../support/document-signing.ts";
import { expectMatchesOpenApi } from "../../support/openapi.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import { expectPromised, sdkClient, sdkError } from "./sdk.ts";

const signingAxios = await documentedSigningAxios();
const api = await startSignedApi({ compatPrefixes: ["farcaster"] });
const clock = api.api.node.clock;
/** A proxy in front of the node that records the bytes of every request. */
const wire: { method: string; path: string; body: Uint8Array; headers: Headers }[] = [];
let tamper = (body: Uint8Array): Uint8Array => body;
const wiretap = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const body = await request.bytes();
    wire.push({ method: request.method, path: pathname, body, headers: request.headers });
    const headers = new Headers(request.headers);
    headers.delete("content-length");
    return fetch(`${api.api.url}${pathname}${search}`, {
      method: request.method,
      headers,
      ...(body.length > 0 ? { body: new Uint8Array(tamper(body)) } : {}),
    });
  },
});
// The documented interceptor signs with the machine's clock, and the test's node has its own clock.
clock.advanceSecs(Math.floor((Date.now() - clock.nowMs()) / 1000));
beforeEach(() => {
  wire.length = 0;
  api.api.state.sqlite.run("DELETE FROM webhooks");
});
afterAll(async () => {
  await wiretap.stop(true);
  await api[Symbol.asyncDispose]();
});

function clientOf(fid: number): NeynarAPIClient {
  return sdkClient(wiretap.url.origin, { axiosInstance: signingAxios(fid) });
}

const client = clientOf(3);
const fields = {
  name: "Brotzeit ☕ 面包 🥖",
  url: "https://hook.example/in?é=ü",
  subscription: { "cast.created": { text: "brötchen", author_fids: [3] }, "user.created": {} },
};

async function created(overrides: Partial<typeof fields> = {}) {
  const response = await client.publishWebhook({ ...fields, ...overrides });
  expectPromised("publishWebhook", response);
  return response.webhook ?? fail("no webhook");
}

function fail(message: string): never {
  throw new Error(message);
}

test("accepts POST, GET, PUT, PATCH and DELETE of the SDK, signed over the bytes that they send", async () => {
  const webhook = await created();
  const { webhook_id: webhookId } = webhook;
  const now = new Date(Math.floor(clock.nowMs() / 1000) * 1000).toISOString();
  expect(webhook as unknown).toEqual({
    object: "webhook",
    webhook_id: webhookId,
    developer_uuid: "00000000-0000-8000-8000-000000000003",
    owner_fid: 3,
    target_url: fields.url,
    title: fields.name,
    description: "",
    active: true,
    secrets: [
      {
        uid: webhook.secrets[0]?.uid,
        value: webhook.secrets[0]?.value,
        expires_at: "9999-12-31T23:59:59.999Z",
        created_at: now,
        updated_at: now,
        deleted_at: null,
      },
    ],
    subscription: {
      object: "webhook_subscription",
      subscription_id: webhookId,
      filters: { "cast.created": { text: "brötchen", author_fids: [3], match: "any" }, "user.created": {} },
      created_at: now,
      updated_at: now,
    },
    http_timeout: "10",
    rate_limit: 1000,
    rate_limit_duration: "60",
    created_at: now,
    updated_at: now,
    deleted_at: null,
  });

  const looked = await client.lookupWebhook({ webhookId });
  expectPromised("lookupWebhook", looked);
  expect(looked.webhook).toEqual(webhook);

  const updated = await client.updateWebhook({
    webhookId,
    name: "Änderung",
    url: fields.url,
    subscription: { "follow.created": { target_fids: [3] } },
  });
  expectPromised("updateWebhook", updated);
  expect(updated.webhook?.title).toBe("Änderung");
  expect(updated.webhook?.subscription?.filters as unknown).toEqual({
    "follow.created": { target_fids: [3], match: "any" },
  });

  for (const active of ["false", "true"] as const) {
    const patched = await client.updateWebhookActiveStatus({ webhookId, active });
    expectPromised("updateWebhookActiveStatus", patched);
    expect(patched.webhook?.active).toBe(active === "true");
  }

  const list = await client.fetchWebhooks();
  expectPromised("fetchWebhooks", list);
  expect(list.webhooks.map(({ webhook_id }) => webhook_id)).toEqual([webhookId]);

  const deleted = await client.deleteWebhook({ webhookId });
  expectPromised("deleteWebhook", deleted);
  expect(deleted.success).toBe(true);
  expect(await sdkError(client.lookupWebhook({ webhookId }))).toEqual({
    status: 404,
    body: { message: "no such webhook" },
  });

  expect(wire.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /v2/farcaster/webhook/",
    "GET /v2/farcaster/webhook/",
    "PUT /v2/farcaster/webhook/",
    "PATCH /v2/farcaster/webhook/",
    "PATCH /v2/farcaster/webhook/",
    "GET /v2/farcaster/webhook/list/",
    "DELETE /v2/farcaster/webhook/",
    "GET /v2/farcaster/webhook/",
  ]);
  expect(new TextDecoder().decode(wire[0]?.body)).toBe(JSON.stringify(fields));
  expect(JSON.parse(new TextDecoder().decode(wire[6]?.body))).toEqual({ webhook_id: webhookId });
});

test.each([
  ["one byte more", (body: Uint8Array) => Uint8Array.of(...body, 0x20)],
  ["one byte less", (body: Uint8Array) => body.subarray(0, -1)],
  [
    "the same text, decomposed",
    (body: Uint8Array) => Buffer.from(Buffer.from(body).toString().normalize("NFD")),
  ],
])("%s in transit is 401", async (_, change) => {
  tamper = change;
  const name = "Ä";
  expect(await sdkError(client.publishWebhook({ ...fields, name }))).toMatchObject({ status: 401 });
  tamper = (body) => body;
  expect((await client.publishWebhook({ ...fields, name })).webhook?.title).toBe(name);
});

test("a webhook created in one dialect exists in the other with the same meaning", async () => {
  const webhook = await created({
    subscription: { "cast.created": { text: "a", author_fids: [3], match: "all" } } as never,
  });
  const spec = (path: string) => api.call({ method: "GET", path });
  const [inSpec] = (await spec("/webhook/list")).body.webhooks;
  expect(inSpec).toMatchObject({
    webhook_id: webhook.webhook_id,
    title: fields.name,
    description: null,
    subscription: { "cast.created": { text: "a", author_fids: [3], match: "all" } },
  });
  const made = await api.call({
    method: "POST",
    path: "/webhook?owner_fid=3",
    body: {
      name: "Spec",
      url: "https://hook.example",
      subscription: { cast_created: { text: "a", author_fids: [3] }, user_created: {} },
    },
  });
  const { webhook_id: webhookId } = made.body.webhook;
  const { webhook: seen } = await client.lookupWebhook({ webhookId });
  // A native filter without `match` combines with "and"; the compat record must state it, because its default is "or".
  const filters = seen?.subscription?.filters;
  expect(filters as unknown).toEqual({
    "cast.created": { text: "a", author_fids: [3], match: "all" },
    "user.created": {},
    // The same is true of bans, which compat webhooks leave out by default.
    exclude: { bans: false },
  });
  await client.updateWebhook({
    webhookId,
    name: "Spec",
    url: "https://hook.example",
    subscription: filters ?? {},
  });
  const { subscription } = (await spec(`/webhook?webhook_id=${webhookId}`)).body.webhook;
  expect(subscription["cast.created"].match).toBe("all");
  expect(subscription.exclude).toEqual({ bans: false });
});

test("a webhook leaves out users banned by its owner unless it says otherwise", async () => {
  const webhook = await created();
  expect(webhook.subscription?.filters).not.toHaveProperty("exclude");
  const stored = await api.call({ method: "GET", path: `/webhook?webhook_id=${webhook.webhook_id}` });
  expect(stored.body.webhook.subscription.exclude).toEqual({ bans: true });
  const other = await created({
    subscription: { ...fields.subscription, exclude: { bans: false, fids: [9] } } as never,
  });
  expect(other.subscription?.filters as unknown).toMatchObject({ exclude: { bans: false, fids: [9] } });
  const scored = await sdkError(
    client.publishWebhook({
      ...fields,
      subscription: { "cast.created": { minimum_author_score: 0.5 } } as never,
    }),
  );
  expect(scored).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("scores.enforce does not list webhooks") },
  });
});

test("a webhook belongs to its signer, and other fids cannot access it", async () => {
  const { webhook_id: webhookId } = await created();
  const other = clientOf(4);
  const foreign = { status: 403, body: { message: "the webhook belongs to another fid" } };
  expect(await sdkError(other.lookupWebhook({ webhookId }))).toEqual(foreign);
  expect(await sdkError(other.deleteWebhook({ webhookId }))).toEqual(foreign);
  expect(await sdkError(other.updateWebhookActiveStatus({ webhookId, active: "false" }))).toEqual(foreign);
  expect((await other.fetchWebhooks()).webhooks).toEqual([]);
});

test("is 401 without a signature or a key, and 400 with a message for an invalid body", async () => {
  expect(await sdkError(sdkClient(api.api.url).fetchWebhooks())).toEqual({
    status: 401,
    body: { message: keyRequired("x-api-key:") },
  });
  const refused = async (overrides: object) => sdkError(client.publishWebhook({ ...fields, ...overrides }));
  expect(await refused({ subscription: undefined })).toEqual({
    status: 400,
    body: { message: "missing field subscription" },
  });
  expect(await refused({ subscription: { "trade.created": {} } })).toMatchObject({ status: 400 });
  expect(await refused({ subscription: { "cast.created": [] } })).toEqual({
    status: 400,
    body: { message: "subscription.cast.created must be an object" },
  });
  expect(await refused({ subscription: [] })).toMatchObject({ status: 400 });
  expect(await refused({ name: "" })).toMatchObject({ status: 400 });
});

test("a webhook stores the prefix of its creation, whatever prefix changes it later", async () => {
  const prefixOf = (webhookId: string) =>
    api.api.state.sqlite
      .query<{ compat_prefix: string | null }, [string]>(
        "SELECT compat_prefix FROM webhooks WHERE webhook_id = ?",
      )
      .get(webhookId)?.compat_prefix;
  const { webhook_id: webhookId } = await created();
  expect(prefixOf(webhookId)).toBe("farcaster");
  await api.call({ method: "PUT", path: "/webhook", body: { webhook_id: webhookId, name: "Other" } });
  expect(prefixOf(webhookId)).toBe("farcaster");
  const body = { name: "Own", url: "https://hook.example", subscription: { "user.created": {} } };
  const own = await api.call({ method: "POST", path: "/webhook?owner_fid=3", body });
  const ownId = own.body.webhook.webhook_id;
  expect(prefixOf(ownId)).toBeNull();
  await client.updateWebhookActiveStatus({ webhookId: ownId, active: "true" });
  expect(prefixOf(ownId)).toBeNull();
});

test("the record of every response matches the document", async () => {
  await created();
  const list = await client.fetchWebhooks();
  expectMatchesOpenApi(api.api.document, "GET", "/v2/farcaster/webhook/list", 200, list);
});
