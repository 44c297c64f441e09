import { expect, test } from "bun:test";
import { GroupCounts } from "../../../src/push/store/campaigns/campaign-counts.ts";
import type { TokenResult } from "../../../src/push/store/campaigns/notification-ledger.ts";

const result = (fid: number, of: Partial<TokenResult> = {}): TokenResult => ({
  fid,
  clientFid: 9,
  kind: "success",
  reason: "",
  isRetryable: false,
  ...of,
});

test("the successes of a group are kept until the last of them expires, and nothing is kept for failures", () => {
  const counts = new GroupCounts();
  const failed = [result(1, { kind: "failure", reason: "http_500", isRetryable: true })];
  counts.addResults("a.example", failed, failed, 500);
  expect([counts.keptUntil, counts.retryable]).toEqual([0, [1]]);
  for (const keptUntil of [200, 300, 100]) counts.addResults("a.example", [], [result(2)], keptUntil);
  expect([counts.keptUntil, counts.retryable]).toEqual([300, [1]]);
});
