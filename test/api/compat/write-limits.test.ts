import { afterAll, expect, test } from "bun:test";
import { SubmitBulkMessagesRequest } from "../../../src/protocol/wire/generated/hub.ts";
import { Message } from "../../../src/protocol/wire/generated/message.ts";
import { signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { startSignedApi } from "../../support/signed-api.ts";

const OWNER = 3;
const USER = 71;
const OTHER = 72;
const USAGE_USER = 73;
const TARGETS = Array.from({ length: 12 }, (_, n) => 200 + n);
const signed = await startSignedApi({
  compatPrefixes: ["farcaster"],
  settings: [`signers.encryption_key=${"5a".repeat(32)}`, "writes.fid_messages_per_hour=40"],
  fids: [OWNER],
});
const { node, url } = signed.api;
for (const fid of [USER, OTHER, USAGE_USER, ...TARGETS]) node.ingestAll(accountRecords(fid));
afterAll(() => signed[Symbol.asyncDispose]());

async function keyOf(writesPerMinute: number): Promise<{ id: string; secret: string }> {
  const body = { name: "k", scopes: ["write", "read"], writes_per_minute: writesPerMinute };
  const { api_key, secret } = (await signed.call({ method: "POST", path: "/api_key", body })).body;
  return { id: api_key.api_key_id, secret };
}

async function importSigner(fid: number): Promise<string> {
  const private_key = `0x${Buffer.from(accountSigner(fid).privateKey).toString("hex")}`;
  const path = "/managed_signer/import";
  return (await signed.call({ method: "POST", path, body: { private_key, fid } })).body.signer.signer_uuid;
}

async function call(secret: string, method: string, path: string, body: object) {
  const response = await fetch(`${url}/v2/farcaster${path}`, {
    method,
    headers: { "x-api-key": secret, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

test("each message takes one token of the key before it is signed; what makes no message takes none", async () => {
  const signer_uuid = await importSigner(USER);
  const { secret } = await keyOf(7);
  const follow = (fids: readonly number[]) =>
    call(secret, "POST", "/user/follow", { signer_uuid, target_fids: fids });
  const first = await follow(TARGETS.slice(0, 5));
  expect(first.status).toBe(200);
  expect(first.headers.get("ratelimit-policy")).toContain('"writes";q=7;w=60, "fid";q=40;w=3600');
  expect(first.headers.get("ratelimit")).toMatch(/"writes";r=2;t=43, "fid";r=5;t=450$/);
  expect((await follow(TARGETS.slice(0, 5))).status).toBe(200);
  const refused = await follow(TARGETS.slice(5, 8));
  expect(refused.status).toBe(429);
  expect(refused.headers.get("x-error-code")).toBe("rate_limited");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused.headers.get("ratelimit")).toMatch(/"writes";r=2;/);
  expect((await follow(TARGETS.slice(5, 7))).status).toBe(200);
  const cast = await call(secret, "POST", "/cast", { signer_uuid, text: "one more" });
  expect(cast.status).toBe(429);
  expect(cast.body.message).toContain("of this key");
});

test("a user's messages per hour are counted across all keys, and a repetition takes none", async () => {
  const signer_uuid = await importSigner(OTHER);
  const keys = await Promise.all([keyOf(120), keyOf(120)]);
  const publish = (text: string) =>
    call(keys[text.length % 2]?.secret ?? "", "POST", "/cast", { signer_uuid, text, idem: text });
  const texts = Array.from({ length: 11 }, (_, n) => "x".repeat(n + 1));
  for (const text of texts.slice(0, 10)) expect((await publish(text)).status).toBe(200);
  expect((await publish("x")).headers.get("idempotent-replayed")).toBe("true");
  const refused = await publish(texts[10] ?? "");
  expect(refused.status).toBe(429);
  expect(refused.body.message).toContain("of this user");
  expect(refused.headers.get("retry-after")).toBe("90");
});

test("the usage of a key counts its messages, and two units for each further message of a request", async () => {
  const signer_uuid = await importSigner(USAGE_USER);
  const { id, secret } = await keyOf(120);
  const follow = (count: number) =>
    call(secret, "POST", "/user/follow", { signer_uuid, target_fids: TARGETS.slice(0, count) });
  // 10,000 less 26 units, and what was returned while the request ran: 1,000 a second.
  const [, left] = /^"key";r=(\d+);/.exec((await follow(4)).headers.get("ratelimit") ?? "") ?? [];
  expect(Number(left)).toBeWithin(9974, 9999);
  expect((await follow(4)).body.success).toBe(true);
  const idem = () => call(secret, "POST", "/cast", { signer_uuid, text: "once", idem: "once" });
  for (let n = 0; n < 2; n += 1) expect((await idem()).status).toBe(200);
  expect((await call(secret, "DELETE", "/cast", { signer_uuid, target_hash: "00" })).status).toBe(400);
  await signed.api.flushUsage();
  const usage = await signed.call({ method: "GET", path: `/api_key/usage?api_key_id=${id}` });
  const counts = (route: string) =>
    usage.body.usage.find((row: { route: string }) => row.route === `/v2/farcaster${route}`);
  expect(counts("/user/follow")).toMatchObject({ requests: 2, units: 52, writes: 4, errors: 0 });
  expect(counts("/cast")).toMatchObject({ requests: 3, units: 60, writes: 1, errors: 1 });
});

test("submits under /v1 by a key take tokens, and count as its writes", async () => {
  await using closed = await startSignedApi({
    compatPrefixes: ["farcaster"],
    settings: ["http.anonymous=false"],
    fids: [OWNER],
  });
  closed.api.node.ingestAll(accountRecords(USER));
  const body = { name: "k", scopes: ["write"], writes_per_minute: 4 };
  const { api_key, secret } = (await closed.call({ method: "POST", path: "/api_key", body })).body;
  const cast = (text: string) => signedCast(USER, text, accountSigner(USER));
  const submit = async (path: string, bytes: Uint8Array) => {
    const response = await fetch(`${closed.api.url}/v1${path}`, {
      method: "POST",
      headers: { "x-api-key": secret, "content-type": "application/octet-stream" },
      body: bytes,
    });
    await response.body?.cancel();
    return { status: response.status, limits: response.headers.get("ratelimit") ?? "" };
  };
  const bulk = (...messages: Uint8Array[]) =>
    submit(
      "/submitBulkMessages",
      SubmitBulkMessagesRequest.encode({ messages: messages.map((one) => Message.decode(one)) }).finish(),
    );
  const one = await submit("/submitMessage", cast("one"));
  expect(one.status).toBe(200);
  expect(one.limits).toContain('"writes";r=3;');
  expect((await submit("/submitMessage", signedCast(USER, "forged", accountSigner(OWNER)))).status).toBe(400);
  const many = await bulk(cast("a"), cast("b"), cast("c"));
  expect(many.status).toBe(429);
  expect(many.limits).toContain('"writes";r=2;');
  expect((await bulk(cast("a"), signedCast(USER, "b", accountSigner(OWNER)))).status).toBe(200);
  await closed.api.flushUsage();
  const path = `/api_key/usage?api_key_id=${api_key.api_key_id}`;
  const { usage } = (await closed.call({ method: "GET", path })).body;
  expect(
    usage.map(({ route, requests, units, writes }: Record<string, unknown>) => [
      route,
      requests,
      units,
      writes,
    ]),
  ).toEqual([
    // 20 each, and 2 for each further message; what the limit of messages refuses has cost its units.
    ["/v1/submitBulkMessages", 2, 24 + 22, 1],
    ["/v1/submitMessage", 2, 40, 1],
  ]);
});
