import { expect, test } from "bun:test";
import { createOutboundClient, type OutboundClient } from "../../src/net/client.ts";
import { requestFollowing } from "../../src/net/follow.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import { startReceiver } from "../support/receiver.ts";
import { expectErr, expectOk } from "../support/result.ts";

const client = createOutboundClient({
  guard: createUrlGuard({ allowCidrs: ["127.0.0.1/32"], allowHttp: true }),
});
const CALL = { method: "GET", timeoutMs: 60_000 } as const;
const targetOf = (location: URL) => location.href;

/** A server of `/0`, which redirects to `/1` and so on up to `/last`. */
const startChain = (last: number) =>
  startReceiver({
    respond: ({ path }) => {
      const at = Number(path.slice(1));
      if (at === last) return new Response("the end");
      return new Response(null, { status: 302, headers: { location: `/${at + 1}` } });
    },
  });

test("a chain of redirects has the time limit of one call: each of its calls gets what is left", async () => {
  await using receiver = startChain(2);
  const limitsMs: number[] = [];
  const timed: OutboundClient = {
    request(call) {
      limitsMs.push(call.timeoutMs);
      return client.request(call);
    },
  };
  const url = `http://127.0.0.1:${receiver.port}/0`;
  const startedAtMs = performance.now();
  const end = expectOk(await requestFollowing(timed, { ...CALL, url }, { maxRedirects: 2, targetOf }));
  const tookMs = performance.now() - startedAtMs;
  expect(end.url).toBe(`http://127.0.0.1:${receiver.port}/2`);
  const [first = 0, second = 0, third = 0] = limitsMs;
  expect(first).toBeLessThanOrEqual(CALL.timeoutMs);
  expect(second).toBeLessThan(first);
  expect(third).toBeLessThan(second);
  expect(third).toBeGreaterThanOrEqual(CALL.timeoutMs - tookMs);
});

test("a chain ends at the redirect above its limit, and at a target that is refused, which is not called", async () => {
  await using receiver = startChain(3);
  const at = (n: number) => `http://127.0.0.1:${receiver.port}/${n}`;
  const call = { ...CALL, url: at(0) };
  const long = expectErr(await requestFollowing(client, call, { maxRedirects: 2, targetOf }));
  expect(long).toMatchObject({ kind: "redirect", url: at(2) });
  expect(receiver.requests).toHaveLength(3);
  const refusing = {
    maxRedirects: 3,
    targetOf: ({ pathname, href }: URL) => (pathname === "/1" ? undefined : href),
  };
  const refused = expectErr(await requestFollowing(client, call, refusing));
  expect(refused).toMatchObject({ kind: "redirect", url: at(1), isRefusedTarget: true });
  expect(receiver.requests).toHaveLength(4);
});
