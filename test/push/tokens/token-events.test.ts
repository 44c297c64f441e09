import { afterEach, beforeEach, expect, test } from "bun:test";
import { Registry } from "prom-client";
import type { App } from "../../../src/apps/app-store.ts";
import { openStateInMemory, type StateDatabase } from "../../../src/db/state/database.ts";
import { err } from "../../../src/lib/result.ts";
import { createUrlGuard, type UrlGuard } from "../../../src/net/guard.ts";
import { createTokenEvents } from "../../../src/push/tokens/token-events.ts";
import { registerTokenMetrics } from "../../../src/push/tokens/token-metrics.ts";
import { ManualClock } from "../../support/clock.ts";
import { logTo } from "../../support/log.ts";
import { expectErr, expectOk } from "../../support/result.ts";
import { localStores } from "../../support/state-stores.ts";

const app: App = {
  appId: "app",
  ownerFid: 3,
  name: "App",
  appUrl: "https://app.example",
  description: null,
  signerFidAllowlist: [],
  secrets: [],
  createdAt: 100,
  updatedAt: 100,
};
const publicGuard = createUrlGuard({
  allowCidrs: [],
  allowHttp: false,
  resolve: async () => ["93.184.216.34"],
});
const payloadOf = (event: object) => new Uint8Array(Buffer.from(JSON.stringify(event)));
const added = payloadOf({
  event: "miniapp_added",
  notificationDetails: { url: "https://client.example/private-path", token: "a secret token" },
});

let state: StateDatabase;
beforeEach(() => {
  state = openStateInMemory();
});
afterEach(() => state[Symbol.dispose]());

async function start(guard: UrlGuard = publicGuard) {
  const lines: string[] = [];
  const registry = new Registry();
  const apps = localStores(state).apps;
  const tokens = localStores(state).tokens;
  const clock = new ManualClock(1000);
  await apps.create(app, 25);
  const events = createTokenEvents({
    apps,
    tokens,
    guard,
    clock,
    stateClock: clock,
    log: logTo((line: string) => lines.push(line), "trace"),
    count: registerTokenMetrics({ registry, prefix: "svc_" }, tokens),
  });
  const send = (payload: Uint8Array, fid = 5) =>
    events.apply(app, { fid, clientFid: 9152, payload }, "request-1");
  return { events, apps, tokens, lines, registry, send };
}

test("logs one line per applied event, without token and URL, and none for a refused one", async () => {
  const { send, lines } = await start();
  expectErr(await send(payloadOf({ event: "nothing" })));
  expect(lines).toEqual([]);
  expectOk(await send(added));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: "info",
      subsystem: "tokens",
      appId: "app",
      event: "miniapp_added",
      fid: 5,
      clientFid: 9152,
      requestId: "request-1",
      msg: "Applied a token event",
    }),
  ]);
  expect(lines.join("")).not.toMatch(/secret|private-path/);
});

test("refuses with notFound and stores nothing when the app is deleted during the URL check", async () => {
  const checking = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const { send, apps, tokens } = await start({
    async check(url) {
      checking.resolve();
      await goOn.promise;
      return publicGuard.check(url);
    },
  });
  const outcome = send(added);
  await checking.promise;
  await apps.delete({ id: "app", ownerFid: 3, nowSecs: 1000 });
  goOn.resolve();
  expect(expectErr(await outcome)).toMatchObject({ kind: "notFound" });
  expect(await tokens.totals()).toEqual({ enabled: 0, disabled: 0, no_token: 0 });
});

test("resolves no name above the limit", async () => {
  let checks = 0;
  const { send } = await start({
    check(url) {
      checks += 1;
      return publicGuard.check(url);
    },
  });
  for (let n = 0; n < 60; n += 1) expectOk(await send(added));
  expect(expectErr(await send(added))).toMatchObject({ kind: "tooManyRequests", retryAfterSecs: 3600 });
  expect(checks).toBe(60);
});

test("counts refused events: resolves no name above the limit", async () => {
  let checks = 0;
  const requesters = new Set<string | undefined>();
  const { send, tokens } = await start({
    async check(_url, requester) {
      checks += 1;
      requesters.add(requester);
      return err({ kind: "dns", reason: "must have a host that resolves to public addresses only" } as const);
    },
  });
  for (let n = 0; n < 30; n += 1) {
    expect(expectErr(await send(added))).toMatchObject({ kind: "badRequest" });
    expect(expectErr(await send(payloadOf({ event: "nothing" })))).toMatchObject({ kind: "badRequest" });
  }
  expect(expectErr(await send(added))).toMatchObject({ kind: "tooManyRequests", retryAfterSecs: 3600 });
  expect(expectErr(await send(payloadOf({ event: "nothing" })))).toMatchObject({ kind: "tooManyRequests" });
  expect(expectErr(await send(added, 6))).toMatchObject({ kind: "badRequest" });
  expect([checks, [...requesters]]).toEqual([31, ["fid:5", "fid:6"]]);
  expect(await tokens.totals()).toEqual({ enabled: 0, disabled: 0, no_token: 0 });
});

test("exports rows by state and events by outcome", async () => {
  const { send, registry } = await start();
  await send(added);
  await send(added, 6);
  await send(payloadOf({ event: "notifications_disabled" }), 6);
  await send(payloadOf({ event: "miniapp_added" }), 7);
  await send(payloadOf({ event: "nothing" }), 8);
  const text = await registry.metrics();
  for (const line of [
    'svc_notification_tokens{state="enabled"} 1',
    'svc_notification_tokens{state="disabled"} 1',
    'svc_notification_tokens{state="no_token"} 1',
    'svc_token_events_total{outcome="applied",event="miniapp_added"} 3',
    'svc_token_events_total{outcome="applied",event="notifications_disabled"} 1',
    'svc_token_events_total{outcome="invalid",event=""} 1',
  ]) {
    expect(text.split("\n")).toContain(line);
  }
});
