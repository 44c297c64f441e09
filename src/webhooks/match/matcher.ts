import type { EventKind } from "../../protocol/event-kind.ts";
import { filtersOf, type Subscription } from "../subscription.ts";
import { keysOf } from "./event-keys.ts";
import type { EventFacts } from "./facts.ts";
import { KindIndex } from "./kind-index.ts";
import { OwnerBudgets, type Subscriber } from "./owner-budgets.ts";
import { readSubscriptionProgram } from "./subscription-program.ts";

/**
 * Subscriptions in memory. The cost of an event depends on the number of subscriptions that may match it and on the number
 * of distinct regular expressions, not on the total number of subscriptions.
 */
export interface Matcher {
  /**
   * Adds or replaces a subscription.
   *
   * @param ownerId the owner whose budget is charged. Default: the subscription's id.
   * @param options see `SubscriptionEntry`. Default: both false.
   * @returns the reason if it is refused and so matches nothing: an invalid expression (another version may have accepted it), or too
   * many expressions of one owner.
   */
  set(
    id: string,
    subscription: Subscription,
    ownerId?: string,
    options?: { readonly isSecond?: boolean | undefined; readonly isPreview?: boolean | undefined },
  ): string | undefined;
  delete(id: string): void;
  /** Returns the subscriptions that match an event, each once, unordered. */
  match(facts: EventFacts): string[];
}

export interface MatcherOptions {
  /** A monotonic clock in milliseconds that measures costs. */
  readonly nowMs?: () => number;
  /** Budgets of all matchers on this thread. Default: no limit. */
  readonly budgets?: OwnerBudgets;
  /** Called when a subscription exceeds its owner's budget. It then matches nothing until it is set again. */
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
    set(id, subscription, ownerId = id, { isSecond = false, isPreview = false } = {}) {
      remove(id);
      const read = readSubscriptionProgram(subscription);
      if (!read.ok) return read.error.reason;
      const program = read.value;
      const subscribed = budgets.subscribe({
        id,
        ownerId,
        programSize: isSecond ? 0 : program.size,
        isPreview,
        onOver: (reason) => onOver?.(id, reason),
      });
      if (!subscribed.ok) return subscribed.error;
      const subscriber = subscribed.value;
      subscribers.set(id, subscriber);
      for (const [kind, filter] of filtersOf(subscription))
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
