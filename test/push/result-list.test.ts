import { expect, test } from "bun:test";
import fc from "fast-check";
import { ResultList } from "../../src/push/fan-out/send-callers.ts";
import type { TokenResult } from "../../src/push/store/campaigns/notification-ledger.ts";

const settlement = (fid: number): TokenResult => ({
  fid,
  clientFid: 1,
  kind: "success",
  reason: "",
  isRetryable: false,
});

test("lists up to 100 tokens, and none when there are more", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), { maxLength: 8 }), (sizes) => {
      const list = new ResultList();
      const added: TokenResult[] = [];
      for (const size of sizes) {
        const batch = Array.from({ length: size }, (_, at) => settlement(added.length + at));
        added.push(...batch);
        list.add({ tokens: batch, outcomes: batch });
      }
      expect(list.all()).toEqual(added.length > 100 ? undefined : added);
    }),
  );
});

test.each([
  [100, 100],
  [101, undefined],
])("of %i tokens in one batch lists %p", (tokens, listed) => {
  const list = new ResultList();
  const batch = Array.from({ length: tokens }, (_, at) => settlement(at));
  list.add({ tokens: batch, outcomes: batch });
  expect(list.all()?.length).toBe(listed);
});
