import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HOST_LIMITS, PreviewQueue } from "../../src/previews/preview-queue.ts";

const url = (host: string, path: number | string) => ({ href: `https://${host}/${path}`, host });

describe("the queue of previews", () => {
  test("1,000 URLs of a host make five calls at once and one in two seconds after them", () => {
    const queue = new PreviewQueue();
    for (let at = 0; at < 1_000; at++) queue.add(url("a.example", at));
    const calls: number[] = [];
    for (let nowMs = 0; nowMs <= 120_000; nowMs += 100)
      for (let one = queue.take(nowMs); one; one = queue.take(nowMs)) {
        calls.push(nowMs);
        queue.end(one);
      }
    for (const at of calls) {
      const made = calls.filter((one) => one <= at).length;
      expect(made).toBeLessThanOrEqual(HOST_LIMITS.burst + at / HOST_LIMITS.refillMs);
    }
    expect(calls).toHaveLength(5 + 60);
  });

  test("a host is called 500 times a day", () => {
    const queue = new PreviewQueue();
    let calls = 0;
    let nowMs = 0;
    for (; nowMs < 86_400_000; nowMs += 10_000) {
      queue.add(url("a.example", nowMs));
      for (let one = queue.take(nowMs); one; one = queue.take(nowMs)) {
        calls += 1;
        queue.end(one);
      }
    }
    expect(calls).toBe(500);
    expect(queue.take(nowMs + 1)).toBeDefined();
  });

  test("a host has one call at a time, all together eight", () => {
    const queue = new PreviewQueue();
    for (let host = 0; host < 20; host++)
      for (let at = 0; at < 3; at++) queue.add(url(`h${host}.example`, at));
    const taken = [];
    for (let one = queue.take(0); one; one = queue.take(0)) taken.push(one.host);
    expect(taken).toHaveLength(8);
    expect(new Set(taken).size).toBe(8);
  });

  test("a client that waits for thousands is ahead of others by 16 of them", () => {
    const queue = new PreviewQueue();
    for (let at = 0; at < 9_000; at++) queue.add(url(`h${at}.example`, at), { urgentFor: "greedy" });
    queue.add(url("patient.example", 1), { urgentFor: "patient" });
    const taken = [];
    for (let one = queue.take(0); one && taken.length < 20; one = queue.take(0)) {
      taken.push(one.host);
      queue.end(one);
    }
    expect(taken.indexOf("patient.example")).toBe(16);
    queue.add(url("late.example", 1), { urgentFor: "greedy" });
    expect(queue.take(0)?.host).toBe("late.example");
  });

  test("what a client waits for comes first", () => {
    const queue = new PreviewQueue();
    queue.add(url("a.example", 1));
    queue.add(url("b.example", 2));
    queue.add(url("c.example", 3), { urgentFor: "one" });
    queue.add(url("b.example", 2), { urgentFor: "one" });
    expect([queue.take(0), queue.take(0), queue.take(0)].map((one) => one?.host)).toEqual([
      "c.example",
      "b.example",
      "a.example",
    ]);
    expect(queue.waiting).toBe(0);
  });

  test("beyond 10,000 the oldest gives way", () => {
    const queue = new PreviewQueue();
    for (let at = 0; at < 10_005; at++) queue.add(url("a.example", at));
    expect(queue.waiting).toBe(10_000);
    expect(queue.dropped).toBe(5);
    expect(queue.take(0)?.href).toBe("https://a.example/5");
  });

  test("a host that asks for time gets it, and others continue", () => {
    const queue = new PreviewQueue();
    queue.rest("a.example", 100, 0);
    queue.add(url("a.example", 1));
    queue.add(url("b.example", 1), { waitsFor: "a.example" });
    queue.add(url("c.example", 1));
    expect(queue.take(0)?.host).toBe("c.example");
    expect(queue.take(99_000)).toBeUndefined();
    expect(queue.nextAtMs(0)).toBe(100_000);
    expect(queue.take(100_000)?.host).toBe("a.example");
    expect(queue.take(100_000)?.host).toBe("b.example");
  });

  test("a URL that leads to its own host again gets the calls that it needs, however busy the host is", () => {
    const queue = new PreviewQueue();
    for (let at = 0; at < 40; at++) queue.add(url("a.example", at));
    const done: string[] = [];
    let calls = 0;
    for (let nowMs = 0; nowMs <= 900_000; nowMs += 250)
      for (let one = queue.take(nowMs); one; one = queue.take(nowMs)) {
        calls += 1;
        // Each page is behind two redirects within the host.
        const isThere = queue.call("a.example", nowMs) && queue.call("a.example", nowMs);
        if (isThere) done.push(one.href);
        queue.end(one);
        if (!isThere) queue.add(one, { returns: one.returns + 1 });
        expect(one.returns).toBeLessThan(4);
      }
    expect(new Set(done).size).toBe(40);
    expect(calls).toBeGreaterThan(40);
  });

  test("whatever happens: no URL twice at once, no host beyond its limits, and what waits is taken at the time it names", () => {
    const step = fc.record({
      host: fc.integer({ min: 0, max: 3 }),
      path: fc.integer({ min: 0, max: 5 }),
      kind: fc.constantFrom("add", "urgent", "take", "end", "call", "rest", "wait"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const queue = new PreviewQueue();
        const running: { href: string; host: string }[] = [];
        const calls = new Map<string, number>();
        let nowMs = 0;
        const called = (host: string) => {
          const made = (calls.get(host) ?? 0) + 1;
          calls.set(host, made);
          expect(made).toBeLessThanOrEqual(HOST_LIMITS.burst + nowMs / HOST_LIMITS.refillMs + 1e-6);
        };
        for (const { host, path, kind } of steps) {
          const name = `h${host}.example`;
          if (kind === "add" || kind === "urgent")
            queue.add(url(name, path), { urgentFor: kind === "urgent" ? `client ${path}` : undefined });
          if (kind === "wait") nowMs += path * 700;
          if (kind === "rest") queue.rest(name, path, nowMs);
          if (kind === "call" && queue.call(name, nowMs)) called(name);
          if (kind === "end" && running.length > 0) queue.end(running.shift() as (typeof running)[number]);
          if (kind !== "take") continue;
          const one = queue.take(nowMs);
          if (!one) {
            const nextMs = queue.nextAtMs(nowMs);
            if (nextMs === undefined) continue;
            expect(nextMs).toBeGreaterThan(nowMs);
            continue;
          }
          called(one.host);
          expect(running.some(({ href, host }) => href === one.href || host === one.host)).toBe(false);
          running.push(one);
        }
      }),
    );
  });
});
