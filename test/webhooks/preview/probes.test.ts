import { expect, test } from "bun:test";
import fc from "fast-check";
import type { EventFacts } from "../../../src/webhooks/match/facts.ts";
import { createMatcher } from "../../../src/webhooks/match/matcher.ts";
import { probesOf } from "../../../src/webhooks/preview/scan.ts";
import type { Subscription } from "../../../src/webhooks/subscription.ts";
import { someFacts, someSubscription } from "../../support/subscriptions.ts";

const isMatching = (subscription: Subscription, facts: EventFacts): boolean => {
  const matcher = createMatcher();
  expect(matcher.set("one", subscription)).toBeUndefined();
  return matcher.match(facts).length > 0;
};

test("names no field for an event that matches, and a field that the event does not meet for every other", () => {
  const named = new Set<string | undefined>();
  fc.assert(
    fc.property(someSubscription, fc.array(someFacts, { maxLength: 8 }), (subscription, events) => {
      const probes = probesOf(subscription);
      const matcher = createMatcher();
      for (const probe of probes.subscriptions) matcher.set(probe.id, probe.subscription, "owner");
      for (const facts of events) {
        const fellTo = probes.fellTo(facts.kind, new Set(matcher.match(facts)));
        named.add(fellTo);
        expect(fellTo === undefined).toBe(isMatching(subscription, facts));
        const filter = subscription[facts.kind] as Readonly<Record<string, unknown>> | undefined;
        if (fellTo === undefined) continue;
        if (!filter) expect(fellTo).toBe("type");
        else if (fellTo === "match") expect(filter.match).toBe("any");
        else {
          const alone = { [facts.kind]: { [fellTo]: filter[fellTo] } } as Subscription;
          expect([fellTo, isMatching(alone, facts)]).toEqual([fellTo, false]);
        }
      }
    }),
    { numRuns: 300 },
  );
  for (const field of [
    "type",
    "match",
    "author_fids",
    "exclude_author_fids",
    "text",
    "embeds",
    "target_fids",
  ])
    expect(named).toContain(field);
});

test("looks at an expression only where the fields before it match", () => {
  const { subscriptions, fellTo } = probesOf({
    "cast.created": { author_fids: [1], text: "a", embeds: "b", mentioned_fids: [2] },
  });
  expect(subscriptions.map(({ subscription }) => subscription)).toEqual([
    { "cast.created": { author_fids: [1], text: "a", embeds: "b", mentioned_fids: [2] } },
    { "cast.created": { author_fids: [1] } },
    { "cast.created": { mentioned_fids: [2] } },
    { "cast.created": { author_fids: [1], mentioned_fids: [2], embeds: "b" } },
  ]);
  const fallsTo = (...met: string[]) =>
    fellTo("cast.created", new Set(met.map((field) => `cast.created ${field}`)));
  expect(fallsTo("mentioned_fids")).toBe("author_fids");
  expect(fallsTo("author_fids", "mentioned_fids")).toBe("embeds");
  expect(fallsTo("author_fids", "mentioned_fids", "embeds")).toBe("text");
  expect(fellTo("follow.created", new Set())).toBe("type");
});
