import { expect, test } from "bun:test";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { waitAfter } from "../../../src/net/objects/retry-calls.ts";

const POLICY = { maxFailures: 2, initialDelayMs: 60_000, maxDelayMs: 60_000, stallMs: 60_000 };

test("after its signal only the reason of the signal is reported, whatever failed and how often", async () => {
  const reason = new Error("the node is shutting down");
  const signal = AbortSignal.abort(reason);
  for (const cause of [new UserError("refused"), new Error("cut")]) {
    for (const failures of [1, POLICY.maxFailures])
      await expect(waitAfter("the file", cause, failures, { policy: POLICY, signal })).rejects.toBe(reason);
  }
});

test("a permanent failure ends at once, other failures at their limit", async () => {
  const terms = { policy: POLICY, signal: new AbortController().signal };
  const refused = new UserError("refused");
  await expect(waitAfter("the file", refused, 1, terms)).rejects.toBe(refused);
  const given = waitAfter("the file", new Error("cut"), POLICY.maxFailures, terms);
  await expect(given).rejects.toThrow(new RetryableError("the file: cut, after 2 attempts"));
});
