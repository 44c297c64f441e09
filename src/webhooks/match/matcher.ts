import type { Subscription } from "../../db/state/records.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import { keysOf } from "./event-keys.ts";
import type { EventFacts } from "./facts.ts";
import { type Filter, KindIndex } from "./kind-index.ts";
import { OwnerBudgets, type Subscriber } from "./owner-budgets.ts";
import { RegexFault } from "./regex-program.ts";
import { readSubscriptionProgram } from "./subscription-program.ts";

/**
 * Subscriptions in memory. What an event costs depends on how many subscriptions may want it and on how many different
 * regular expressions there are, not on how many subscriptions.
 */
export interface Matcher {
  /**
   * Takes a subscription in place of the one of that id.
   *
   * @param ownerId whose budget its regular expressions are charged to; its own when left out.
   * @returns why it is refused and matches nothing, if it is: an expression that does not pass, as one that another
   * version let pass may, or too many of one owner.
   */
  set(id: string, subscription: Subscription, ownerId?: string): string | undefined;
  delete(id: string): void;
  /** The subscriptions that want an event, each once, in no order. */
  match(facts: EventFacts): string[];
}

export interface MatcherOptions {
  /** A monotonic clock in milliseconds, which costs are measured by. */
  readonly nowMs?: () => number;
  /** Those of all matchers on this thread; without any limit when left out. */
  readonly budgets?: OwnerBudgets;
  /** Told of a subscription that is over its owner's budget. It matches nothing from then on, until it is set again. */
  readonly onOverBudget?: (id: string, reason: string) => void;
}

const UNLIMITED = { minuteMs: Number.POSITIVE_INFINITY, eventMs: Number.POSITIVE_INFINITY };

export function createMatcher(options: MatcherOptions = {}): Matcher {
  const { nowMs = () => performance.now(), onOverBudget: onOver } = options;
  const { budgets = new OwnerBudgets(UNLIMITED, nowMs) } = options;
  const indexes = new Map<EventKind, KindIndex>();
  const subscribers = new Map<string, Subscriber>();

  function indexOf(kind: EventKind): KindIndex {
    const index = indexes.get(kind) ?? new KindIndex(budgets, nowMs);
    indexes.set(kind, index);
    return index;
  }

  function remove(id: string): void {
    const subscriber = subscribers.get(id);
    if (subscriber === undefined) return;
    subscribers.delete(id);
    budgets.unsubscribe(subscriber);
    for (const index of indexes.values()) index.delete(id);
  }

  return {
    set(id, subscription, ownerId = id) {
      remove(id);
      const program = readSubscriptionProgram(subscription);
      if (program instanceof RegexFault) return program.reason;
      const subscriber = budgets.subscribe({
        id,
        ownerId,
        programSize: program.size,
        onOver: (reason) => onOver?.(id, reason),
      });
      if (typeof subscriber === "string") return subscriber;
      subscribers.set(id, subscriber);
      for (const [kind, filter] of Object.entries(subscription) as [EventKind, Filter][])
        indexOf(kind).add(subscriber, filter, program.byKind[kind] ?? {});
      return undefined;
    },
    delete: remove,
    match(facts) {
      budgets.startEvent();
      return indexes.get(facts.kind)?.match(keysOf(facts)) ?? [];
    },
  };
}
