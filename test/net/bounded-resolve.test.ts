import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createOutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import { createBoundedResolve, LOOKUP_LIMITS, type LookupLimits } from "../../src/net/resolve.ts";
import { startDnsServer } from "../support/dns.ts";
import { expectErr, expectOk } from "../support/result.ts";

/** A bounded resolver whose lookups the test resolves, on a clock that the test moves. */
function startResolver(limits: Partial<LookupLimits> = {}) {
  const clock = { nowMs: 0 };
  const lookups: { name: string; response: PromiseWithResolvers<readonly string[]> }[] = [];
  const resolve = createBoundedResolve(
    (name) => {
      const response = Promise.withResolvers<readonly string[]>();
      lookups.push({ name, response });
      return response.promise;
    },
    { ...LOOKUP_LIMITS, ...limits },
    () => clock.nowMs,
  );
  const names = () => lookups.map(({ name }) => name);
  const respond = async (at: number, ...addresses: string[]) => {
    await Bun.sleep(0);
    if (addresses.length > 0) lookups[at]?.response.resolve(addresses);
    else lookups[at]?.response.reject(new Error("no server responds"));
    await Bun.sleep(0);
  };
  return { clock, resolve, lookups, names, respond };
}

const failed = (outcome: Promise<unknown>) =>
  outcome.then(
    () => false,
    () => true,
  );

test("names without a response do not delay calls to others", async () => {
  await using dns = await startDnsServer((name) => (name.startsWith("good") ? ["127.0.0.1"] : "silent"));
  using receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("taken") });
  const guard = createUrlGuard({
    allowCidrs: ["127.0.0.0/8"],
    allowHttp: true,
    resolve: createBoundedResolve(dns.resolve),
    dnsTimeoutMs: 2_500,
  });
  const client = createOutboundClient({ guard });
  const call = (name: string, requester: string) =>
    client.request({
      url: `http://${name}.example:${receiver.port}/`,
      method: "POST",
      requester,
      timeoutMs: 10_000,
    });
  let ended = 0;
  const silent = Array.from({ length: 200 }, async (_, at) => {
    const outcome = await call(`silent-${at}`, `fid:${at % 10}`);
    ended += 1;
    return outcome;
  });
  for (let at = 0; at < 10; at += 1) expect(expectOk(await call(`good-${at}`, "fid:77")).status).toBe(200);
  // After a silent name, a call would wait until that name's time is over.
  expect(ended).toBe(0);
  // Few lookups of each requester were started.
  expect(dns.queries.filter((name) => name.startsWith("silent")).length).toBe(
    10 * LOOKUP_LIMITS.perRequester,
  );
  expect((await Promise.all(silent)).map((outcome) => expectErr(outcome).kind)).toEqual(
    Array.from({ length: 200 }, () => "dns"),
  );
});

describe("lookups", () => {
  test("of one name are shared while in flight", async () => {
    const { resolve, names, respond } = startResolver();
    const asking = [resolve("a.example", { requester: "1" }), resolve("a.example", { requester: "2" })];
    await respond(0, "8.8.8.8");
    expect(await Promise.all(asking)).toEqual([["8.8.8.8"], ["8.8.8.8"]]);
    expect(names()).toEqual(["a.example"]);
  });

  test("above the limit of the requester or the total wait in order of arrival", async () => {
    const { resolve, names, respond } = startResolver({ total: 3, perRequester: 2 });
    const of = (requester: string, ...requested: string[]) =>
      requested.map((name) => failed(resolve(name, { requester })));
    of("greedy", "a", "b", "c", "d");
    of("modest", "e", "f");
    await Bun.sleep(0);
    expect(names()).toEqual(["a", "b", "e"]);
    await respond(2);
    expect(names()).toEqual(["a", "b", "e", "f"]);
    await respond(0, "8.8.8.8");
    expect(names()).toEqual(["a", "b", "e", "f", "c"]);
    await respond(1, "8.8.8.8");
    expect(names().at(-1)).toBe("d");
  });

  test("of a requester that had used its share start at once after the others ended", async () => {
    const { resolve, names, respond } = startResolver({ perRequester: 1 });
    for (const [at, name] of ["a", "b", "c"].entries()) {
      void resolve(name, { requester: "1" });
      await respond(at, "8.8.8.8");
      expect(names()[at]).toBe(name);
    }
  });

  test("that were cancelled are not started", async () => {
    const { resolve, names, respond } = startResolver({ total: 1 });
    const ended = new AbortController();
    const first = failed(resolve("a"));
    const second = failed(resolve("b", { signal: ended.signal }));
    const third = failed(resolve("c"));
    ended.abort();
    await respond(0);
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect(names()).toEqual(["a", "c"]);
    await respond(1, "8.8.8.8");
    expect(await third).toBe(false);
  });

  test("above the queue limit are refused at once", async () => {
    const { resolve, names } = startResolver({ total: 1, waiting: 2 });
    const asking = ["a", "b", "c"].map((name) => failed(resolve(name)));
    expect(await failed(resolve("d"))).toBe(true);
    expect([asking.length, names()]).toEqual([3, ["a"]]);
  });

  test("are cached: failures for seconds, addresses for a short time", async () => {
    const { clock, resolve, names, respond } = startResolver();
    const bad = failed(resolve("bad"));
    const good = resolve("good");
    await respond(0);
    await respond(1, "8.8.8.8");
    expect([await bad, await good]).toEqual([true, ["8.8.8.8"]]);
    clock.nowMs += LOOKUP_LIMITS.successMs - 1;
    expect([await failed(resolve("bad")), await resolve("good")]).toEqual([true, ["8.8.8.8"]]);
    expect(names().length).toBe(2);
    clock.nowMs += 1;
    const again = resolve("good");
    await respond(2, "1.1.1.1");
    expect(await again).toEqual(["1.1.1.1"]);
    clock.nowMs += LOOKUP_LIMITS.failureMs;
    const recovered = resolve("bad");
    await respond(3, "1.0.0.1");
    expect(await recovered).toEqual(["1.0.0.1"]);
  });

  test("are cached for a bounded number of names", async () => {
    const { resolve, names, respond } = startResolver({ names: 2 });
    for (const [at, name] of ["a", "b", "c"].entries()) {
      const asking = resolve(name);
      await respond(at, "8.8.8.8");
      await asking;
    }
    await resolve("b");
    await resolve("c");
    expect(names().length).toBe(3);
    void resolve("a");
    await Bun.sleep(0);
    expect(names().length).toBe(4);
  });

  test("never exceed their limits, and all finish, in any order", async () => {
    const step = fc.record({ requester: fc.nat(3), name: fc.nat(12), ends: fc.nat(8), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const limits = { total: 5, perRequester: 2, waiting: 8 };
        const { clock, resolve, lookups, respond } = startResolver(limits);
        const outcomes: Promise<boolean>[] = [];
        let finished = 0;
        for (const { requester, name, ends, fails } of steps) {
          outcomes.push(failed(resolve(`n${name}`, { requester: `${requester}` })));
          await Bun.sleep(0);
          expect(lookups.length - finished).toBeLessThanOrEqual(limits.total);
          while (finished < lookups.length && finished < ends)
            await respond(finished++, ...(fails ? [] : ["8.8.8.8"]));
          clock.nowMs += 1_000;
        }
        while (finished < lookups.length) await respond(finished++, "8.8.8.8");
        await Promise.all(outcomes);
      }),
      { numRuns: 50 },
    );
  });
});
