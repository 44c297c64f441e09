import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { signedOperations } from "../../src/api/operations.ts";
import { createOwners } from "../../src/auth/owners/owners.ts";
import { hashBody } from "../../src/auth/signed-routes.ts";
import { createVerify } from "../../src/auth/verify.ts";
import { serviceNames } from "../../src/config/names.ts";
import { silentLog } from "../support/log.ts";
import { sendRaw, statusesOf } from "../support/raw-socket.ts";
import { APP_ID, testApp } from "../support/send.ts";
import { type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";
import { localStores } from "../support/state-stores.ts";

/** Hashing 256 KB takes 16 ms of a thread that serves reads, so invalid headers must not cause it. */

const kib = 1024;

let signed: SignedApi;
beforeAll(async () => {
  signed = await startSignedApi();
});
afterAll(() => signed[Symbol.asyncDispose]());

test("hashes the body only after all checks of the headers have passed", async () => {
  let hashed = 0;
  const spent = new Set<string>();
  const verify = createVerify({
    names: serviceNames("svc"),
    clock: signed.api.node.clock,
    stateClock: signed.api.node.clock,
    windowSecs: 300,
    nonces: {
      isSpent: async ({ nonce }) => spent.has(Buffer.from(nonce).toString("hex")),
      spend: async ({ nonce }) => spent.add(Buffer.from(nonce).toString("hex")) !== undefined,
    },
    owners: createOwners({ db: signed.api.node.db }),
    sessions: undefined,
    isPaused: () => false,
    staleReason: async () => undefined,
    log: silentLog,
  });
  const body = Buffer.alloc(200 * kib, "x");
  const call: TestCall = { method: "POST", path: "/webhook", body };
  const attempt = (headers: Record<string, string>) =>
    verify({
      headers: new Headers(headers),
      op: "webhook.create",
      client: "client",
      bodyHash: () => {
        hashed += 1;
        return hashBody(body);
      },
    }).then(
      () => "passed",
      (error: { message: string }) => error.message,
    );
  const good = await signed.sign(call);
  const name = (suffix: string) => Object.keys(good).find((key) => key.toLowerCase().endsWith(suffix)) ?? "";
  const highS = `0x${"11".repeat(32)}${"ff".repeat(32)}1b`;
  const cheaplyRefused = [
    {},
    { ...good, [name("-nonce")]: "0x12" },
    { ...good, [name("-signature")]: `${good[name("-signature")]}00` },
    { ...good, [name("-signature")]: highS },
    { ...good, [name("-signature")]: `0x${"11".repeat(64)}05` },
    await signed.sign({ ...call, signedAt: signed.nowSecs() - 301 }),
    await signed.sign({ ...call, fid: 999 }),
    { ...good, [name("-fid")]: String(2n ** 60n) },
  ];
  for (const headers of cheaplyRefused) expect(await attempt(headers)).not.toBe("passed");
  expect(hashed).toBe(0);
  // Well-formed, but of no key.
  const keyless = { ...good, [name("-signature")]: `0x${"00".repeat(32)}${"11".repeat(32)}1b` };
  expect(await attempt(keyless)).toBe("signature is not valid");
  expect(hashed).toBe(1);
  expect(await attempt(good)).toBe("passed");
  expect(hashed).toBe(2);
  expect(await attempt(good)).toBe("nonce was used before");
  expect(hashed).toBe(2);
});

test("the hash of a body is keccak256, and hashing yields to other tasks for a large body only", async () => {
  for (const size of [0, 1, 16 * kib - 1, 16 * kib, 16 * kib + 1, 256 * kib]) {
    const body = crypto.getRandomValues(new Uint8Array(Math.min(size, 65_536)));
    const whole = Buffer.alloc(size, body);
    let turns = 0;
    let isDone = false;
    const takeTurns = () => {
      turns += 1;
      if (!isDone) setImmediate(takeTurns);
    };
    setImmediate(takeTurns);
    const hash = await hashBody(whole);
    isDone = true;
    expect(hash).toEqual(keccak_256(whole));
    if (size === 256 * kib) expect(turns).toBeGreaterThanOrEqual(10);
    if (size <= 16 * kib) expect(turns).toBe(0);
  }
});

/** Bodies with a list of users, webhooks with their filters, other records. */
function recordLimit(path: string): number {
  if (path.startsWith("/frame/app/campaign") || path === "/frame/app/segment") return 1024 * kib;
  if (path.startsWith("/login_client")) return 64 * kib;
  return path.startsWith("/webhook") ? 256 * kib : 32 * kib;
}

test("rejects bodies above 4 KB unread for operations on an id; operations with records have the limit of their path", async () => {
  const records = new Set([
    "createApiKey",
    "updateApiKey",
    "createApp",
    "updateApp",
    "sendCampaign",
    "estimateSend",
    "saveDraft",
    "saveSegment",
    "createLoginClient",
    "createNoticeChannel",
    "updateLoginClient",
    "addAppBans",
    "removeAppBans",
    "createWebhook",
    "updateWebhook",
    "patchWebhook",
    "previewWebhook",
  ]);
  for (const [id, operation] of Object.entries(signedOperations)) {
    const { method, path } = operation;
    // fetch sends no body with GET.
    if (method === "GET") continue;
    const limit = records.has(id) ? recordLimit(path) : 4 * kib;
    const over = { method, path, body: Buffer.alloc(limit + 1, "x") };
    expect([id, (await signed.send(over, {})).status]).toEqual([id, 413]);
    const within = { method, path, body: Buffer.alloc(limit, "x") };
    expect([id, (await signed.send(within, {})).status]).toEqual([id, 401]);
  }
});

describe("credentials in headers are checked before the body is read", () => {
  /** Sends a head and the first of 2,000 bytes; a server that waits for the rest sends no response. */
  const withheld = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    sendRaw(
      Number(new URL(signed.api.url).port),
      `${method} /v2/svc${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n` +
        `${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join("")}\r\n{`,
    );
  const call: TestCall = { method: "POST", path: "/frame/app", body: "{" };
  const changed = (headers: Record<string, string>, suffix: string, value: string) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, found]) => [
        name,
        name.toLowerCase().endsWith(suffix) ? value : found,
      ]),
    );

  test("a signed operation without headers, out of its window, malformed, by an unknown fid or with a spent nonce is 401", async () => {
    const good = await signed.sign(call);
    const spent = await signed.sign({ method: "GET", path: "/frame/app/list" });
    expect((await signed.send({ method: "GET", path: "/frame/app/list" }, spent)).status).toBe(200);
    const nonce = Object.entries(spent).find(([name]) => name.toLowerCase().endsWith("-nonce"))?.[1] ?? "";
    for (const headers of [
      {},
      await signed.sign({ ...call, signedAt: signed.nowSecs() - 301 }),
      changed(good, "-signature", "0x12"),
      await signed.sign({ ...call, fid: 999 }),
      changed(good, "-nonce", nonce),
      { ...good, "X-Svc-Session": crypto.randomUUID() },
    ]) {
      const { text } = await withheld("POST", call.path, headers);
      expect(statusesOf(text)).toEqual([401]);
      expect(text.toLowerCase()).toContain("connection: close");
    }
  });

  test("a send to an unknown app is 404, one without its secret 401", async () => {
    await localStores(signed.api.state).apps.create(testApp(), 10);
    const path = `/frame/notifications/${APP_ID}`;
    const statusOf = async (to: string, headers = {}) =>
      statusesOf((await withheld("POST", to, headers)).text);
    expect(await statusOf("/frame/notifications/nobody")).toEqual([404]);
    expect(await statusOf(path)).toEqual([401]);
    expect(await statusOf(path, { "x-api-key": "6".repeat(64) })).toEqual([401]);
  });
});
