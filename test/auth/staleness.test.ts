import { afterEach, beforeEach, expect, test } from "bun:test";
import { clientKey, officialEnvelope } from "../support/envelopes.ts";
import { makeSigner } from "../support/messages.ts";
import { CLIENT_A, type PushApi, startPushApi, USER } from "../support/push.ts";
import { createSession, sessionHeaders } from "../support/sessions.ts";

/** An index that lags behind its upstream node may have only an earlier owner of an fid, and not its newest keys. */

let push: PushApi;
let stale: string | undefined;
beforeEach(async () => {
  stale = undefined;
  push = await startPushApi({ staleReason: async () => stale, compatPrefixes: ["farcaster"] });
});
afterEach(() => push[Symbol.asyncDispose]());

test("while the index lags, signed operations are 503 with the reason, and store nothing", async () => {
  const { signed } = push;
  const body = { name: "A", app_url: "https://a.example" };
  const create = { method: "POST", path: "/frame/app", body } as const;
  const headers = await signed.sign(create);
  const before = push.everything();
  stale = "shard 1 is 40s behind";
  const refused = await signed.send(create, headers);
  expect(refused).toEqual({
    status: 503,
    body: { message: "signed operations have to wait: shard 1 is 40s behind" },
  });
  expect(push.everything()).toEqual(before);
  expect((await signed.call({ method: "GET", path: "/frame/app/list" })).status).toBe(503);
  // The nonce was not spent: the same request succeeds once the index has caught up.
  stale = undefined;
  expect((await signed.send(create, headers)).status).toBe(200);
});

test("while the index lags, an invalid signature is still 401, and reads continue", async () => {
  const { signed } = push;
  stale = "shard 1 is 40s behind";
  const early = { method: "GET", path: "/frame/app/list", signedAt: signed.nowSecs() - 301 } as const;
  expect((await signed.call(early)).status).toBe(401);
  const list = { method: "GET", path: "/frame/app/list" } as const;
  const tooLarge = { ...(await signed.sign(list)), "X-Svc-Fid": "9007199254740993" };
  expect((await signed.send(list, tooLarge)).status).toBe(401);
  expect((await signed.api.get(`/user?fid=${USER}`)).status).toBe(200);
});

test("while the index lags, a token event by an unknown key is 503, and by a known key is accepted", async () => {
  const event = { event: "miniapp_added" };
  const unknown = officialEnvelope(USER, makeSigner("a new key"), event);
  stale = "shard 1 is 40s behind";
  expect(await push.post(unknown)).toMatchObject({
    status: 503,
    body: { message: "the key is not known yet: shard 1 is 40s behind" },
  });
  expect((await push.post(officialEnvelope(USER, clientKey(USER, CLIENT_A), event))).status).toBe(200);
  expect((await push.post({ ...unknown, signature: "AA" })).status).toBe(401);
  stale = undefined;
  expect((await push.post(unknown)).status).toBe(401);
});

test("while the operator has paused them, signed operations are 503, by whatever key, and spend no nonce", async () => {
  const { signed } = push;
  const session = await createSession(signed, 3);
  const body = { name: "k", scopes: ["webhooks"] };
  const apiKey: string = (await signed.call({ method: "POST", path: "/api_key", body })).body.secret;
  const list = { method: "GET", path: "/webhook/list" } as const;
  const signatures = [
    await signed.sign(list),
    sessionHeaders(session, { ...list, signedAt: signed.nowSecs() }),
  ];
  const byKey = () =>
    fetch(`${signed.api.url}/v2/farcaster/webhook/list`, { headers: { "x-api-key": apiKey } });
  signed.api.pause("signed");
  const before = push.everything();
  for (const headers of signatures)
    expect(await signed.send(list, headers)).toEqual({
      status: 503,
      body: { message: "signed operations are paused by the operator" },
    });
  expect((await byKey()).status).toBe(503);
  expect(push.everything()).toEqual(before);
  signed.api.pause();
  for (const headers of signatures) expect((await signed.send(list, headers)).status).toBe(200);
  expect((await byKey()).status).toBe(200);
});

test("while the operator has paused them, token events are 503", async () => {
  const event = officialEnvelope(USER, clientKey(USER, CLIENT_A), { event: "miniapp_added" });
  push.signed.api.pause("tokens");
  expect((await push.post(event)).status).toBe(503);
  push.signed.api.pause();
  expect((await push.post(event)).status).toBe(200);
});
