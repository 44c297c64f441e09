import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { OwnerBudgets, type Subscriber } from "../../../src/webhooks/match/owner-budgets.ts";
import { MAX_OWNER_PROGRAM_SIZE } from "../../../src/webhooks/match/subscription-program.ts";
import { expectErr, expectOk } from "../../support/result.ts";

const MINUTE_MS = 60_000;

function startBudgets(minuteMs = 100, eventMs = 50) {
  const clock = { nowMs: 0 };
  const budgets = new OwnerBudgets({ minuteMs, eventMs }, () => clock.nowMs);
  const over: { id: string; reason: string }[] = [];
  const trySubscribe = (id: string, ownerId: string, programSize = 10) =>
    budgets.subscribe({
      id,
      ownerId,
      programSize,
      onOver: (reason) => over.push({ id, reason }),
    });
  const subscribe = (...args: Parameters<typeof trySubscribe>) => expectOk(trySubscribe(...args));
  /** Charges a subscription for an event of its own. */
  const spend = (subscriber: Subscriber, ms: number) => {
    budgets.startEvent();
    budgets.charge(subscriber, ms);
  };
  return { clock, budgets, over, subscribe, trySubscribe, spend, ids: () => over.map(({ id }) => id) };
}

describe("an owner above the budget of a minute", () => {
  test("loses only its most expensive subscription; other owners lose nothing", () => {
    const { over, subscribe, spend } = startBudgets();
    const [dear, cheap, other] = [subscribe("dear", "a"), subscribe("cheap", "a"), subscribe("other", "b")];
    for (let event = 0; event < 9; event += 1) {
      spend(other, 9);
      spend(dear, 10);
      spend(cheap, 1);
    }
    expect(over).toEqual([]);
    spend(cheap, 2);
    expect(over).toEqual([
      {
        id: "dear",
        reason:
          "its owner's regular expressions took more than 100 ms of matching within a minute, and its own the most",
      },
    ]);
    expect([dear.isOverBudget, cheap.isOverBudget, other.isOverBudget]).toEqual([true, false, false]);
    for (let event = 0; event < 50; event += 1) spend(cheap, 1);
    expect(over.length).toBe(1);
  });

  test("loses nothing when the cost is spread over several minutes", () => {
    const { clock, over, subscribe, spend } = startBudgets();
    const steady = subscribe("steady", "a");
    for (let minute = 0; minute < 5; minute += 1) {
      clock.nowMs = minute * MINUTE_MS;
      for (let event = 0; event < 10; event += 1) spend(steady, 10);
    }
    expect(over).toEqual([]);
  });

  test("gets at most three budgets by setting again, deleting or adding subscriptions", () => {
    const { clock, budgets, subscribe, spend } = startBudgets();
    let spent = 0;
    for (let round = 0; round < 100; round += 1) {
      const subscriber = subscribe(`round ${round}`, "a");
      while (!subscriber.isOverBudget) {
        spend(subscriber, 10);
        spent += 10;
      }
      budgets.unsubscribe(subscriber);
    }
    // Each round has the cost of one evaluation, which the limits of programs and texts bound.
    expect(spent).toBeLessThan(3 * 100 + 100 * 10 + 10);
    clock.nowMs += MINUTE_MS;
    const later = subscribe("later", "a");
    for (let event = 0; event < 10; event += 1) spend(later, 10);
    expect(later.isOverBudget).toBe(false);
  });
});

test("stops the most expensive subscription when one event exceeds the event budget", () => {
  const { budgets, over, subscribe } = startBudgets();
  const [one, other] = [subscribe("one", "a"), subscribe("other", "a")];
  budgets.startEvent();
  budgets.charge(one, 20);
  budgets.charge(other, 30);
  expect(over).toEqual([]);
  budgets.charge(other, 1);
  expect(over).toEqual([
    {
      id: "other",
      reason:
        "its owner's regular expressions took more than 50 ms of matching for one event, and its own the most",
    },
  ]);
  budgets.startEvent();
  budgets.charge(one, 50);
  expect(over.length).toBe(1);
});

test("limits the total program size of an owner; a removal frees its share", () => {
  const { budgets, subscribe, trySubscribe } = startBudgets();
  const first = subscribe("first", "a", MAX_OWNER_PROGRAM_SIZE);
  expect(expectErr(trySubscribe("second", "a", 1))).toEqual(
    expect.stringContaining(`${MAX_OWNER_PROGRAM_SIZE + 1} instructions`),
  );
  expect(trySubscribe("without an expression", "a", 0).ok).toBe(true);
  expect(trySubscribe("second", "b", 1).ok).toBe(true);
  budgets.unsubscribe(first);
  expect(trySubscribe("second", "a", 1).ok).toBe(true);
});

test("never stops an owner below the budget, whatever others do", () => {
  const step = fc.record({
    owner: fc.nat(2),
    subscription: fc.nat(3),
    ms: fc.integer({ min: 0, max: 40 }),
    again: fc.boolean(),
    waitMs: fc.constantFrom(0, 0, 0, 1_000, 70_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const { clock, budgets, over, subscribe } = startBudgets();
      const thrifty = subscribe("thrifty", "thrifty");
      const subscribers = new Map<string, Subscriber>();
      for (const { owner, subscription, ms, again, waitMs } of steps) {
        clock.nowMs += waitMs;
        budgets.startEvent();
        budgets.charge(thrifty, 0.1);
        const id = `${owner} ${subscription}`;
        const known = subscribers.get(id);
        if (known && again) budgets.unsubscribe(known);
        const subscriber = known && !again ? known : subscribe(id, `${owner}`);
        subscribers.set(id, subscriber);
        if (!subscriber.isOverBudget) budgets.charge(subscriber, ms);
      }
      expect(over.map(({ id }) => id)).not.toContain("thrifty");
    }),
  );
});
