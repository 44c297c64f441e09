import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createOutboundClient } from "../../../src/net/client.ts";
import { createUrlGuard } from "../../../src/net/guard.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";
import { openDeliveryBench, START_SECS, secretOf, verify } from "../../support/deliveries.ts";
import { until } from "../../support/manual-time.ts";
import { startReceiver } from "../../support/receiver.ts";

const never = () => new Promise<Response>(() => undefined);
const bodiesOf = (receiver: { requests: readonly { body: string }[] }) =>
  receiver.requests.map(({ body }) => body);

test("a receiver on a raw socket can verify a delivery from its bytes", async () => {
  await using bench = openDeliveryBench();
  const head = Promise.withResolvers<Buffer>();
  let received = Buffer.alloc(0);
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, data) {
        received = Buffer.concat([received, data]);
        if (!received.includes("}}")) return;
        socket.end("HTTP/1.1 204 No Content\r\n\r\n");
        head.resolve(received);
      },
    },
  });
  const hook = await bench.addWebhook("a", listener.port);
  await bench.start();
  const body = '{"created_at":1,"type":"cast.created","data":{"text":"Grüße 🎈\\u0000"}}';
  await bench.publish([hook], body);
  const raw = await head.promise;
  await bench.settled(hook, 1);
  listener.stop(true);
  const at = raw.indexOf("\r\n\r\n");
  const bodyBytes = raw.subarray(at + 4);
  expect(bodyBytes).toEqual(Buffer.from(body));
  const lines = raw.subarray(0, at).toString("latin1").split("\r\n");
  expect(lines[0]).toBe("POST /in?who=a HTTP/1.1");
  const headers = new Map(
    lines.slice(1).map((line) => [line.split(": ")[0]?.toLowerCase(), line.split(": ")[1]]),
  );
  const key = Buffer.from(secretOf("a").value, "ascii");
  expect(headers.get("x-svc-signature")).toBe(createHmac("sha512", key).update(bodyBytes).digest("hex"));
  const id = headers.get("webhook-id") ?? "";
  const signed = Buffer.concat([Buffer.from(`${id}.${headers.get("webhook-timestamp")}.`), bodyBytes]);
  expect(headers.get("webhook-signature")).toBe(
    `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
  );
  expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(headers.get("webhook-timestamp")).toBe(String(START_SECS));
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("user-agent")).toMatch(/^svc\/\d/);
  expect(headers.get("host")).toBe(`a.example:${listener.port}`);
});

test("retries a failed attempt on schedule, with the same id and a new timestamp", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver({ respond: () => new Response("oops", { status: 500 }) });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], "{}");
  for (const [at, waitMs] of [500, 1_000, 2_000, 4_000].entries()) {
    await until(async () => (await bench.list(hook))[0]?.attempts.length === at + 1);
    bench.time.advanceMs(waitMs - 50);
    expect(receiver.requests).toHaveLength(at + 1);
    // The duration of the call delays the next attempt.
    bench.time.advanceMs(1_000);
    await until(() => receiver.requests.length === at + 2);
  }
  await bench.settled(hook, 1, "failed");
  const [delivery] = await bench.list(hook);
  expect(delivery?.attempts.map(({ status, responseText }) => [status, responseText])).toEqual(
    Array.from({ length: 5 }, () => [500, "oops"]),
  );
  expect(new Set(receiver.requests.map(({ headers }) => headers.get("webhook-id")))).toEqual(
    new Set([delivery?.messageId ?? ""]),
  );
  expect(
    new Set(receiver.requests.map(({ headers }) => headers.get("webhook-timestamp"))).size,
  ).toBeGreaterThan(2);
  expect(receiver.requests.every((request) => verify(request, [secretOf("a").value]))).toBe(true);
});

test("signs a retry after a rotation with the new and the old secret", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver({ respond: () => new Response("", { status: 503 }) });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], '{"n":1}');
  await until(async () => (await bench.list(hook))[0]?.attempts.length === 1);
  await bench.webhooks.rotateSecret(
    { id: hook, ownerFid: 3, nowSecs: START_SECS },
    { secret: makeSecret(200, START_SECS), graceEndsAt: START_SECS + 2, maxSecrets: 9 },
  );
  bench.time.advanceMs(1_000);
  await until(async () => (await bench.list(hook))[0]?.attempts.length === 2);
  bench.time.advanceMs(4_000);
  await until(() => receiver.requests.length === 3);
  const newest = makeSecret(200).value;
  const [before, during, after] = receiver.requests;
  if (!before || !during || !after) throw new Error("three attempts were expected");
  expect(verify(before, [secretOf("a").value])).toBe(true);
  expect(verify(during, [secretOf("a").value, newest])).toBe(true);
  // The grace period is over.
  expect(verify(after, [newest])).toBe(true);
});

test("a poll sends a retry that was scheduled before the clock went back by days", async () => {
  await using bench = openDeliveryBench();
  let status = 503;
  await using receiver = startReceiver({ respond: () => new Response("", { status }) });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], "{}");
  await until(async () => (await bench.list(hook))[0]?.attempts.length === 1);
  await bench.stop();
  status = 200;
  bench.time.advanceMs(-2 * 86_400_000);
  await bench.start();
  await bench.settled(hook, 1);
  expect(receiver.requests).toHaveLength(2);
});

test("counts a redirect as a failed attempt and does not follow it", async () => {
  await using bench = openDeliveryBench("webhooks.retry_max_attempts=1");
  await using target = startReceiver();
  await using receiver = startReceiver({
    respond: () => Response.redirect(`http://private.example:${target.port}/`, 307),
  });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], "{}");
  await bench.settled(hook, 1, "failed");
  expect((await bench.list(hook))[0]?.attempts).toMatchObject([{ status: null, error: "redirect" }]);
  expect(target.requests).toEqual([]);
});

test("does not call a host that now resolves to a private address", async () => {
  await using bench = openDeliveryBench("webhooks.retry_max_attempts=2");
  await using receiver = startReceiver();
  const guard = createUrlGuard({ allowCidrs: [], allowHttp: true, resolve: async () => ["127.0.0.1"] });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start({ client: createOutboundClient({ guard }) });
  await bench.publish([hook], "{}");
  await until(async () => (await bench.list(hook))[0]?.attempts.length === 1);
  bench.time.advanceMs(2_000);
  await bench.settled(hook, 1, "failed");
  expect((await bench.list(hook))[0]?.attempts.map(({ error }) => error)).toEqual([
    "refused_url",
    "refused_url",
  ]);
  expect(receiver.requests).toEqual([]);
});

describe("a failing receiver does not delay others", () => {
  test("delivers to a quick one beside one that hangs, one that returns 500 and one that redirects", async () => {
    await using bench = openDeliveryBench();
    await using hanging = startReceiver({ respond: never });
    await using failing = startReceiver({ respond: () => new Response("", { status: 500 }) });
    await using redirecting = startReceiver({ respond: () => Response.redirect("http://10.0.0.1/", 302) });
    await using quick = startReceiver();
    const hooks = [
      await bench.addWebhook("hanging", hanging.port),
      await bench.addWebhook("failing", failing.port),
      await bench.addWebhook("redirecting", redirecting.port),
      await bench.addWebhook("quick", quick.port),
    ];
    await bench.start();
    const bodies = Array.from({ length: 200 }, (_, n) => `{"n":${n}}`);
    await bench.publish(hooks, ...bodies);
    // Time does not pass: there are no retries and no timeouts, and the quick one has everything.
    await bench.settled("quick", 200);
    expect(bodiesOf(quick).sort()).toEqual(bodies.sort());
    expect(hanging.requests.length).toBeLessThanOrEqual(4);
    expect(bodiesOf(hanging)[0]).toBe('{"n":0}');
  });

  test("delivers to an eleventh receiver while ten hang", async () => {
    await using bench = openDeliveryBench();
    await using hanging = startReceiver({ respond: never });
    await using quick = startReceiver();
    const names = Array.from({ length: 10 }, (_, n) => `hanging-${n}`);
    for (const name of names) await bench.addWebhook(name, hanging.port);
    await bench.addWebhook("quick", quick.port);
    const running = await bench.start();
    await bench.publish(names, ...Array.from({ length: 20 }, (_, n) => `{"n":${n}}`));
    await until(() => hanging.requests.length === 10);
    await bench.publish(["quick"], ...Array.from({ length: 50 }, (_, n) => `{"n":${n}}`));
    await bench.settled("quick", 50);
    expect(hanging.requests).toHaveLength(10);
    expect((await running.stats()).inFlight).toBe(10);
  });
});

test("keeps at most four calls to one webhook and sixteen in total in flight", async () => {
  await using bench = openDeliveryBench();
  let inFlight = 0;
  let most = 0;
  const mostOf = new Map<string, number>();
  const of = new Map<string, number>();
  await using receiver = startReceiver({
    async respond({ headers }) {
      const name = headers.get("host") ?? "";
      of.set(name, (of.get(name) ?? 0) + 1);
      mostOf.set(name, Math.max(mostOf.get(name) ?? 0, of.get(name) ?? 0));
      inFlight += 1;
      most = Math.max(most, inFlight);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      inFlight -= 1;
      of.set(name, (of.get(name) ?? 0) - 1);
      return new Response("ok");
    },
  });
  const hooks = await Promise.all(
    Array.from({ length: 8 }, (_, n) => bench.addWebhook(`hook-${n}`, receiver.port)),
  );
  await bench.start();
  await bench.publish(hooks, ...Array.from({ length: 30 }, (_, n) => `{"n":${n}}`));
  for (const hook of hooks) await bench.settled(hook, 30);
  expect(most).toBeLessThanOrEqual(16);
  expect(most).toBeGreaterThan(8);
  expect(Math.max(...mostOf.values())).toBeLessThanOrEqual(4);
  expect(receiver.requests).toHaveLength(240);
});

test("delivers everything exactly once without faults", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hooks = await Promise.all(
    ["a", "b", "c", "d", "e"].map((name) => bench.addWebhook(name, receiver.port)),
  );
  const running = await bench.start();
  for (let batch = 0; batch < 10; batch += 1) {
    await bench.publish(hooks, ...Array.from({ length: 10 }, (_, n) => `{"n":${10 * batch + n}}`));
  }
  for (const hook of hooks) await bench.settled(hook, 100);
  const ids = receiver.requests.map(({ headers }) => headers.get("webhook-id"));
  expect(ids).toHaveLength(500);
  expect(new Set(ids).size).toBe(500);
  expect((await running.stats()).deliveries).toEqual({ queued: 0, delivered: 500, failed: 0, dropped: 0 });
});

test("delays deliveries above the rate limit and drops those that have waited too long", async () => {
  await using bench = openDeliveryBench("webhooks.rate_limit=3", "webhooks.rate_limit_duration_secs=600");
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  const running = await bench.start();
  await bench.publish([hook], ...Array.from({ length: 8 }, (_, n) => `{"n":${n}}`));
  await bench.settled(hook, 3);
  bench.time.advanceMs(599_000);
  expect(receiver.requests).toHaveLength(3);
  bench.time.advanceMs(20_000);
  await bench.settled(hook, 6);
  // Fifteen minutes after the limit began to delay them.
  bench.time.advanceMs(281_000);
  await bench.settled(hook, 2, "dropped");
  expect(bodiesOf(receiver).sort()).toEqual(Array.from({ length: 6 }, (_, n) => `{"n":${n}}`));
  expect((await running.stats()).dropped).toBe(2);
  expect((await bench.webhooks.find(hook, START_SECS))?.health.dropped).toBe(2);
});

test("applies Retry-After to all queued deliveries of the webhook", async () => {
  await using bench = openDeliveryBench();
  let isWell = false;
  await using receiver = startReceiver({
    respond: () =>
      isWell ? new Response("ok") : new Response("", { status: 429, headers: { "retry-after": "120" } }),
  });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], '{"n":0}', '{"n":1}', '{"n":2}');
  await until(async () => (await bench.list(hook)).some(({ attempts }) => attempts.length > 0));
  bench.time.advanceMs(119_000);
  expect(receiver.requests).toHaveLength(1);
  isWell = true;
  bench.time.advanceMs(10_000);
  await bench.settled(hook, 3);
  expect(receiver.requests).toHaveLength(4);
});

test("deactivates on 410; queued deliveries are sent after the owner reactivates the webhook", async () => {
  await using bench = openDeliveryBench();
  let isGone = true;
  await using receiver = startReceiver({ respond: () => new Response("", { status: isGone ? 410 : 200 }) });
  const hook = await bench.addWebhook("a", receiver.port);
  const running = await bench.start();
  await bench.publish([hook], '{"n":0}', '{"n":1}', '{"n":2}');
  await until(async () => (await bench.webhooks.find(hook, START_SECS))?.active === false);
  const record = await bench.webhooks.find(hook, START_SECS);
  expect(await bench.list(hook)).toHaveLength(3);
  expect([record?.active, record?.health.deactivationReason]).toEqual([
    false,
    "the receiver responded with 410 Gone",
  ]);
  bench.time.advanceMs(86_400_000);
  expect(receiver.requests).toHaveLength(1);
  await bench.publish([hook], '{"n":3}');
  expect(await bench.list(hook)).toHaveLength(3);
  isGone = false;
  await bench.webhooks.update({ id: hook, ownerFid: 3, nowSecs: START_SECS }, { active: true });
  await running.changed(hook);
  await bench.settled(hook, 2);
  expect((await running.stats()).deactivated).toBe(1);
});

test.each(["deleted", "given another URL", "deactivated"])(
  "once a webhook is %s, no call starts that was due before",
  async (change) => {
    await using bench = openDeliveryBench();
    const released = Promise.withResolvers<void>();
    const isHeld = (body: string) => Number(body) >= 20;
    await using receiver = startReceiver({
      respond: async ({ body }) => {
        if (isHeld(body)) await released.promise;
        return new Response("ok");
      },
    });
    const heldCalls = () => bodiesOf(receiver).filter(isHeld).length;
    await using other = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    const running = await bench.start();
    // A webhook that receives quickly has deliveries claimed ahead of its four calls at a time.
    await bench.publish([hook], ...Array.from({ length: 60 }, (_, n) => `${n}`));
    await until(() => heldCalls() === 4);
    const changing = { id: hook, ownerFid: 3, nowSecs: START_SECS };
    const url = `http://a.example:${other.port}/new`;
    if (change === "deleted") await bench.webhooks.delete(changing);
    else
      await bench.webhooks.update(
        changing,
        change === "deactivated" ? { active: false } : { targetUrl: url },
      );
    await running.changed(hook);
    released.resolve();
    const calls = () => receiver.requests.length + other.requests.length;
    if (change === "given another URL") await until(() => calls() === 60);
    await until(async () => (await running.stats()).inFlight === 0);
    expect([heldCalls(), other.requests.length]).toEqual([4, change === "given another URL" ? 36 : 0]);
  },
);

test("sends in order, also after a failed call gave claimed deliveries back", async () => {
  await using bench = openDeliveryBench();
  const failing = new Set(["37", "60"]);
  await using receiver = startReceiver({
    respond: ({ body }) => new Response("", { status: failing.has(body) ? 503 : 200 }),
  });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], ...Array.from({ length: 100 }, (_, n) => `${n}`));
  await bench.settled(hook, 98);
  const first = bodiesOf(receiver).map(Number);
  expect(first).toHaveLength(100);
  // Four calls at a time may overtake each other.
  for (const [at, n] of first.entries()) expect(Math.abs(at - n)).toBeLessThan(4);
  // Their retries are due a second after their outcomes are stored.
  await until(async () => {
    const waiting = (await bench.list(hook)).filter(({ state }) => state !== "delivered");
    return waiting.every(({ attempts }) => attempts.length === 1);
  });
  failing.clear();
  bench.time.advanceMs(1_000);
  await bench.settled(hook, 100);
  expect(bodiesOf(receiver).slice(100).sort()).toEqual(["37", "60"]);
});

test("a quick run gives no claim back", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver();
  const hook = await bench.addWebhook("a", receiver.port);
  const claimed: number[] = [];
  const undone: number[] = [];
  await bench.start({
    watch: (queue) => ({
      claim: (request) => {
        claimed.push(request.max);
        return queue.claim(request);
      },
      unclaim: (deliveries) => {
        undone.push(deliveries.length);
        return queue.unclaim(deliveries);
      },
    }),
  });
  await bench.publish([hook], ...Array.from({ length: 60 }, (_, n) => `${n}`));
  await bench.settled(hook, 60);
  expect(undone).toEqual([]);
  expect(Math.max(...claimed)).toBeGreaterThan(4);
});

test("sends nothing more after a 410 in the middle of a quick run", async () => {
  await using bench = openDeliveryBench();
  await using receiver = startReceiver({
    respond: ({ body }) => new Response("", { status: Number(body) >= 50 ? 410 : 200 }),
  });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  await bench.publish([hook], ...Array.from({ length: 200 }, (_, n) => `${n}`));
  await until(async () => (await bench.webhooks.find(hook, START_SECS))?.active === false);
  const endedCount = async () => (await bench.list(hook)).filter(({ state }) => state !== "queued").length;
  await until(async () => (await endedCount()) === receiver.requests.length);
  // The calls in flight, and one claim that was under way.
  expect(receiver.requests.length).toBeLessThan(56);
});

test("claims again what waited for a slot for more than a second, with the current secrets", async () => {
  await using bench = openDeliveryBench();
  let held: PromiseWithResolvers<void> | undefined;
  await using receiver = startReceiver({
    async respond({ body }) {
      if (Number(body) >= 40) await held?.promise;
      return new Response("ok");
    },
  });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  held = Promise.withResolvers();
  await bench.publish([hook], ...Array.from({ length: 80 }, (_, n) => `${n}`));
  await until(() => receiver.requests.length === 44);
  const newest = makeSecret(200, START_SECS);
  await bench.webhooks.rotateSecret(
    { id: hook, ownerFid: 3, nowSecs: START_SECS },
    { secret: newest, graceEndsAt: START_SECS + 1, maxSecrets: 9 },
  );
  bench.time.advanceMs(1_001);
  held.resolve();
  await bench.settled(hook, 80);
  expect(receiver.requests).toHaveLength(80);
  expect(receiver.requests.slice(44).every((request) => verify(request, [newest.value]))).toBe(true);
});

test("deactivates with a reason after a hundred failed deliveries over a day", async () => {
  await using bench = openDeliveryBench("webhooks.retry_max_attempts=1");
  await using receiver = startReceiver({ respond: () => new Response("", { status: 404 }) });
  const hook = await bench.addWebhook("a", receiver.port);
  await bench.start();
  const isActive = async () => (await bench.webhooks.find(hook, START_SECS))?.active;
  await bench.publish([hook], ...Array.from({ length: 99 }, (_, n) => `{"n":${n}}`));
  await bench.settled(hook, 99, "failed");
  bench.time.advanceMs(86_300_000);
  await bench.publish([hook], '{"n":99}');
  await bench.settled(hook, 100, "failed");
  expect(await isActive()).toBe(true);
  bench.time.advanceMs(200_000);
  await bench.publish([hook], '{"n":100}');
  await until(async () => (await isActive()) === false);
  expect((await bench.webhooks.find(hook, START_SECS))?.health).toMatchObject({
    consecutiveFailures: 101,
    deactivationReason: "101 deliveries in a row failed, over 24 hours or more",
  });
});
