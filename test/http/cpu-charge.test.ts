import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createAdmission } from "../../src/admission/admission.ts";
import type { Gate } from "../../src/http/gate.ts";
import { createRequestLimits } from "../../src/http/limits/request-limits.ts";
import { runHttp } from "../support/http.ts";

const PER_MINUTE = 60;
const BURST = 2_000;

/** Takes CPU time of this thread. */
function burn(ms: number): void {
  const cpuMs = () => process.threadCpuUsage().user / 1000;
  const until = cpuMs() + ms;
  while (cpuMs() < until) Math.random();
}

test("a response that takes more CPU than it paid for is charged for it afterwards, only to its client", async () => {
  const limits = createRequestLimits(createAdmission(), {
    keyBurst: BURST,
    anonymousPerMinute: PER_MINUTE,
    anonymousBurst: BURST,
  });
  const gate: Gate = {
    admit(exchange, { price }) {
      exchange.settlement = limits;
      limits.charge(exchange, price(exchange.request.url));
    },
    recordUse: () => undefined,
  };
  const burns = ({ request }: { readonly request: Request }) => {
    burn(Number(new URL(request.url).searchParams.get("ms") ?? 0));
    return {};
  };
  const routes = new Elysia().get("/sync", burns).get("/async", async (context) => {
    await Promise.resolve();
    return burns(context);
  });
  await using http = runHttp({ plugins: [routes], gate, http: { trusted_proxies: ["127.0.0.0/8"] } });
  const left = async (path: string, client: string) => {
    const response = await fetch(http.api(path), { headers: { "x-forwarded-for": client } });
    return Number(/r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1]);
  };
  for (const path of ["/sync", "/async"]) {
    const client = `203.0.113.${path.length}`;
    // The first responses of a route also compile it.
    for (let n = 0; n < 16; n += 1) await left(path, "203.0.113.99");
    const before = await left(path, client);
    // 80 ms are 1,600 units; the response was sent before they were charged. CPU time is counted in ticks.
    expect(await left(`${path}?ms=80`, client)).toBe(before - 1);
    expect(await left(path, client)).toBeLessThanOrEqual(before - 1_000);
    expect(await left(path, "203.0.113.98")).toBeGreaterThan(BURST - 30);
    // What is left pays for no further one, and the debt is at most one bucket.
    await left(`${path}?ms=80`, client);
    const refused = await fetch(http.api(path), { headers: { "x-forwarded-for": client } });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual((BURST / PER_MINUTE) * 60 + 1);
  }
});

test("responses that take what they paid for are never charged more, however many there are", () => {
  const limits = createRequestLimits(createAdmission(), {
    keyBurst: BURST,
    anonymousPerMinute: PER_MINUTE,
    anonymousBurst: BURST,
  });
  const exchange = {
    caller: { kind: "anonymous" },
    client: () => ({ address: "203.0.113.1", bucket: "203.0.113.1" }),
    route: "/x",
    charged: 1,
    cpuUs: 50,
    isCpuMeasured: true,
  } as Parameters<typeof limits.settle>[0];
  for (let n = 0; n < 5_000; n += 1) {
    // All of the CPU time of 200 falls on one.
    exchange.cpuUs = n % 200 === 0 ? 10_000 : 0;
    limits.settle(exchange);
  }
  expect(exchange.charged).toBe(1);
});

/** Returns a function that settles a response of one unit (50 us) and returns what is charged for it afterwards. */
function settler() {
  const limits = createRequestLimits(createAdmission(), {
    keyBurst: BURST,
    anonymousPerMinute: PER_MINUTE,
    anonymousBurst: BURST,
  });
  return (
    cpuUs: number,
    more: { route?: string | undefined; charged?: number; bucket?: string; isCpuMeasured?: boolean } = {},
  ) => {
    const { charged = 1, bucket = "203.0.113.1" } = more;
    const caller = { kind: "anonymous" };
    const client = () => ({ address: bucket, bucket });
    const exchange = {
      route: "/x",
      isCpuMeasured: true,
      ...more,
      caller,
      client,
      charged,
      cpuUs,
    } as Parameters<typeof limits.settle>[0];
    limits.settle(exchange);
    return exchange.charged - charged;
  };
}

test("what responses take beyond their price is summed up by client, and charged from 50 ms on", () => {
  const charge = settler();
  // The first 16 responses of a route are not measured, nor those that cost nothing or have no route.
  for (let n = 0; n < 16; n += 1) expect(charge(1_000_000)).toBe(0);
  expect(charge(1_000_000, { charged: 0 })).toBe(0);
  for (let n = 0; n < 20; n += 1) expect(charge(1_000_000, { route: undefined })).toBe(0);
  expect(charge(60_000)).toBe(1_199);
  for (let n = 0; n < 9; n += 1) expect(charge(5_050)).toBe(0);
  expect(charge(5_050, { bucket: "203.0.113.2" })).toBe(0);
  expect(charge(5_050)).toBe(1_000);
  // What was charged is not charged again.
  expect(charge(5_050)).toBe(0);
  // A client may be ahead by as much, and no more.
  expect(charge(0, { charged: 2_000 })).toBe(0);
  expect(charge(100_049)).toBe(0);
  expect(charge(51)).toBe(1_000);
});

test("the CPU time of a client is not measured while it has paid 25 ms ahead, which other times only use up", () => {
  const limits = createRequestLimits(createAdmission(), {
    keyBurst: BURST,
    anonymousPerMinute: PER_MINUTE,
    anonymousBurst: BURST,
  });
  const exchange = {
    caller: { kind: "anonymous" },
    client: () => ({ address: "203.0.113.1", bucket: "203.0.113.1" }),
    route: "/x",
    charged: 1,
    cpuUs: 0,
    isCpuMeasured: true,
  } as Parameters<typeof limits.settle>[0];
  const settle = (cpuUs: number) => {
    exchange.isCpuMeasured = limits.needsCpuTime(exchange);
    exchange.cpuUs = cpuUs;
    limits.settle(exchange);
    return exchange.isCpuMeasured;
  };
  // The first 16 are not counted.
  for (let n = 0; n < 16 + 500; n += 1) expect(settle(0)).toBe(true);
  expect([settle(1_000_000), exchange.charged]).toEqual([false, 1]);
  // Nothing is left, so that CPU time counts from now on.
  expect([settle(49_900), exchange.charged]).toEqual([true, 1]);
  expect([settle(300), exchange.charged]).toEqual([true, 1 + 1_002]);
});

test("the sums of 4,096 clients are remembered, and start again with one more", () => {
  for (const others of [4_095, 4_096]) {
    const charge = settler();
    for (let n = 0; n < 16; n += 1) charge(0);
    charge(49_050, { bucket: "first" });
    for (let n = 1; n < others; n += 1) charge(51, { bucket: `client ${n}` });
    // The first responses of the route were not measured: the map has `others` clients.
    expect(charge(60_050, { bucket: "charged at once" })).toBe(1_200);
    charge(51, { bucket: "last" });
    expect([others, charge(1_050, { bucket: "first" })]).toEqual([others, others === 4_095 ? 1_000 : 0]);
  }
});

test.each([
  [600, 0, 60],
  [600, 7, 7],
  [5, 0, 1],
])(
  "of %d units per minute and a burst of %d, an anonymous client may spend %d at once",
  (perMinute, burst, atOnce) => {
    const limits = createRequestLimits(createAdmission(), {
      keyBurst: BURST,
      anonymousPerMinute: perMinute,
      anonymousBurst: burst,
    });
    const caller = { kind: "anonymous" };
    const client = () => ({ address: "203.0.113.1", bucket: "203.0.113.1" });
    const exchange = { caller, client, charged: 0 } as Parameters<typeof limits.charge>[0];
    for (let n = 0; n < atOnce; n += 1) limits.charge(exchange, 1);
    expect(() => limits.charge(exchange, 1)).toThrow("too many requests");
    expect(exchange.charged).toBe(atOnce);
  },
);

test("nothing is charged for what costs nothing, nor anonymous clients without a limit", () => {
  for (const [anonymousPerMinute, units] of [
    [0, 5],
    [PER_MINUTE, 0],
  ] as const) {
    const limits = createRequestLimits(createAdmission(), {
      keyBurst: BURST,
      anonymousPerMinute,
      anonymousBurst: 0,
    });
    const caller = { kind: "anonymous" };
    const client = () => ({ address: "203.0.113.1", bucket: "203.0.113.1" });
    const exchange = { caller, client, charged: 0 } as Parameters<typeof limits.charge>[0];
    for (let n = 0; n < 100; n += 1) limits.charge(exchange, units);
    expect([exchange.charged, exchange.limitHeaders]).toEqual([0, undefined]);
  }
});

test.each([
  [["read"], '"key";q=600;w=60'],
  [["read", "write"], '"key";q=600;w=60, "writes";q=30;w=60'],
])("the policy of a key with the scopes %p is %s", (scopes, policy) => {
  const limits = createRequestLimits(createAdmission(), {
    keyBurst: BURST,
    anonymousPerMinute: PER_MINUTE,
    anonymousBurst: 0,
  });
  const caller = { kind: "apiKey", apiKeyId: "1", scopes, unitsPerMinute: 600, writesPerMinute: 30 };
  const client = () => ({ address: "203.0.113.1", bucket: "203.0.113.1" });
  const exchange = { caller, client, charged: 0 } as unknown as Parameters<typeof limits.charge>[0];
  limits.charge(exchange, 1);
  expect(exchange.limitHeaders).toEqual({ policy, state: '"key";r=599;t=1' });
});
