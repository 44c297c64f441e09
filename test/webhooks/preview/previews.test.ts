import { afterAll, beforeAll, expect, test } from "bun:test";
import type { MatchClient } from "../../../src/webhooks/match/rpc.ts";
import { createPreviews, MAX_PREVIEWS_PER_MINUTE } from "../../../src/webhooks/preview/previews.ts";
import { noBans, startMatching } from "../../support/matching.ts";
import { cast } from "../../support/records.ts";
import { startTestWriter, type TestWriter } from "../../support/writer.ts";

let writer: TestWriter;
beforeAll(async () => {
  writer = await startTestWriter(1);
  await writer.submit(cast(1, "gm"));
});
afterAll(() => writer[Symbol.dispose]());

function start(matching: MatchClient = startMatching()) {
  const time = { ms: 0 };
  const previews = createPreviews({
    index: writer.reader,
    matching,
    bannedAmong: noBans,
    clock: writer.clock,
    nowMs: () => time.ms,
  });
  const preview = (fid: number) =>
    previews.preview({ fid, subscription: { "cast.created": {} }, events: 1_000 });
  return { time, preview };
}

test("an fid has ten previews within any minute", async () => {
  const { time, preview } = start();
  for (let n = 0; n < MAX_PREVIEWS_PER_MINUTE; n += 1) {
    time.ms = n * 1_000;
    expect(await preview(1)).toMatchObject({ ok: true, value: { matched: 1 } });
  }
  const refused = { reason: "an fid may run 10 previews a minute", retryAfterSecs: 51 };
  expect(await preview(1)).toEqual({ ok: false, error: refused });
  expect((await preview(2)).ok).toBe(true);
  time.ms = 60_000;
  expect((await preview(1)).ok).toBe(true);
  expect((await preview(1)).ok).toBe(false);
});

test("of a thousand previews at once a few wait for their turn, one for each fid, and all others are refused", async () => {
  const { preview } = start();
  const results = await Promise.all(Array.from({ length: 1_000 }, (_, n) => preview(n % 500)));
  expect(results.filter(({ ok }) => ok)).toHaveLength(16);
  const reasons = new Set(results.flatMap((result) => (result.ok ? [] : [result.error.reason])));
  expect([...reasons].sort()).toEqual([
    "another preview of this fid is still running",
    "too many previews are running; try again",
  ]);
  expect((await preview(1_000)).ok).toBe(true);
});

test("a preview whose turn is too late is refused, and one that fails gives its turn to the next", async () => {
  const calls: PromiseWithResolvers<void>[] = [];
  const working = startMatching();
  const matching: MatchClient = {
    match: working.match,
    async update(update) {
      const call = Promise.withResolvers<void>();
      calls.push(call);
      await call.promise;
      return working.update(update);
    },
  };
  const { time, preview } = start(matching);
  const [first, late] = [preview(1), preview(2)];
  while (calls.length < 1) await Bun.sleep(0);
  time.ms = 2_001;
  calls[0]?.reject(new Error("the thread is gone"));
  expect(first).rejects.toThrow("the thread is gone");
  expect(await late).toMatchObject({
    ok: false,
    error: { reason: "too many previews are running; try again" },
  });
  const next = preview(1);
  while (calls.length < 2) await Bun.sleep(0);
  calls[1]?.resolve();
  while (calls.length < 3) await Bun.sleep(0);
  calls[2]?.resolve();
  expect((await next).ok).toBe(true);
});
