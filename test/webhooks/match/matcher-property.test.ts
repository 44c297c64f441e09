import { expect, test } from "bun:test";
import fc from "fast-check";
import type { EventFacts } from "../../../src/webhooks/match/facts.ts";
import { createMatcher } from "../../../src/webhooks/match/matcher.ts";
import type { Subscription } from "../../../src/webhooks/subscription.ts";
import { plainMatcher } from "../../support/plain-matcher.ts";
import { someFacts, someSubscription } from "../../support/subscriptions.ts";

type Step = { readonly set: Subscription; readonly at: number } | { readonly deleteAt: number } | EventFacts;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ set: someSubscription, at: fc.nat(150) }) },
  { weight: 1, arbitrary: fc.record({ deleteAt: fc.nat(150) }) },
  { weight: 4, arbitrary: someFacts },
);

test("finds the same subscriptions as a linear scan, after any changes", () => {
  let found = 0;
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 150, size: "max" }),
      fc.infiniteStream(fc.nat(3)),
      (steps, ticks) => {
        // A clock at random speed, so that shards are split at random.
        let nowMs = 0;
        const matcher = createMatcher({ nowMs: () => (nowMs += ticks.next().value * 1_000) });
        const plain = plainMatcher();
        for (const taken of steps) {
          if ("set" in taken) {
            expect(matcher.set(`w${taken.at}`, taken.set)).toBeUndefined();
            plain.set(`w${taken.at}`, taken.set);
          } else if ("deleteAt" in taken) {
            matcher.delete(`w${taken.deleteAt}`);
            plain.delete(`w${taken.deleteAt}`);
          } else {
            const expected = plain.match(taken).sort();
            found += expected.length;
            expect(matcher.match(taken).sort()).toEqual(expected);
          }
        }
      },
    ),
    { numRuns: Number(process.env.MATCHER_RUNS ?? 60) },
  );
  expect(found).toBeGreaterThan(0);
});
