import { afterAll, beforeAll, expect, test } from "bun:test";
import { SHARES } from "../../src/admission/budgets.ts";
import { newSessionKey, SESSION_ORIGIN } from "../support/sessions.ts";
import { type SignedApi, startSignedApi, type TestCall } from "../support/signed-api.ts";

const STRANGER = { "x-forwarded-for": "203.0.113.1" };
const OWNER = { "x-forwarded-for": "2001:db8::1" };
const NEIGHBOUR = { "x-forwarded-for": "2001:db8::2" };
/** Small ones, which do not refill during a test. */
const SIGNED = {
  signedChanges: { perMinute: 0.001, burst: 4 },
  signedReads: { perMinute: 0.001, burst: 7 },
} as const;
const create: TestCall = { method: "POST", path: "/session", body: newSessionKey().body };

let signed: SignedApi;
beforeAll(async () => {
  signed = await startSignedApi({
    settings: [`service.public_url=${SESSION_ORIGIN}`],
    shares: { ...SHARES, ...SIGNED },
    http: { trusted_proxies: ["127.0.0.0/8"] },
  });
});
afterAll(() => signed[Symbol.asyncDispose]());

/** Sends calls without a signature until one is refused for its number. Returns how many were not. */
async function flood(call: TestCall, from: Readonly<Record<string, string>>): Promise<number> {
  for (let sent = 0; sent < 2_000; sent += 1) {
    const response = await fetch(`${signed.api.url}/v2/svc${call.path}`, {
      method: call.method,
      headers: from,
    });
    if (response.status !== 429) continue;
    expect(response.headers.get("x-error-code")).toBe("rate_limited");
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    return sent;
  }
  throw new Error("never refused");
}

test("session.create has a share per client: a stranger's flood leaves no row, and does not lock the owner out", async () => {
  const before = signed.rowCounts();
  const startedMs = performance.now();
  const admitted = await flood(create, STRANGER);
  const { burst, perMinute } = SHARES.newSessions;
  const refilled = Math.ceil(((performance.now() - startedMs) / 60_000) * perMinute);
  expect(admitted).toBeGreaterThanOrEqual(burst);
  expect(admitted).toBeLessThanOrEqual(burst + refilled);
  // The same fid: a valid signature is refused from the stranger's address and accepted from the owner's.
  const headers = await signed.sign(create);
  expect((await signed.send(create, { ...headers, ...STRANGER })).status).toBe(429);
  expect(signed.rowCounts()).toEqual(before);
  expect((await signed.send(create, { ...headers, ...OWNER })).status).toBe(200);
  expect(signed.rowCounts().audit_entries).toBe((before.audit_entries ?? 0) + 1);
});

test("an IPv6 /64 has one share; changes and reads have shares of their own", async () => {
  const app: TestCall = {
    method: "POST",
    path: "/frame/app",
    body: { name: "App", app_url: "https://app.example/" },
  };
  const list: TestCall = { method: "GET", path: "/frame/app/list" };
  expect(await flood(app, OWNER)).toBe(SIGNED.signedChanges.burst);
  expect((await signed.send(app, { ...(await signed.sign(app)), ...NEIGHBOUR })).status).toBe(429);
  expect((await signed.send(list, { ...(await signed.sign(list)), ...NEIGHBOUR })).status).toBe(200);
  expect(await flood(list, OWNER)).toBe(SIGNED.signedReads.burst - 1);
});
