import type { EventKind } from "../protocol/event-kind.ts";
import type { Subscription } from "../state/records.ts";
import { keysOf } from "./event-keys.ts";
import type { EventFacts } from "./facts.ts";
import { type Filter, KindIndex } from "./kind-index.ts";

/**
 * The subscriptions of all webhooks in memory. What an event costs depends on how many webhooks may want it and on how
 * many different regular expressions there are, not on how many subscriptions.
 */
export interface Matcher {
  /**
   * Takes a webhook's subscription in place of the one it had. Answers those of its regular expressions that do not pass
   * as such, as one that another version let pass may: they match nothing.
   */
  set(webhookId: string, subscription: Subscription): string[];
  delete(webhookId: string): void;
  /** The webhooks that want an event, each once, in no order. */
  match(facts: EventFacts): string[];
}

export interface MatcherOptions {
  /** A clock in milliseconds. It has a say in how expressions are grouped, and none in what matches. */
  readonly nowMs?: () => number;
}

export function createMatcher({ nowMs = () => performance.now() }: MatcherOptions = {}): Matcher {
  const indexes = new Map<EventKind, KindIndex>();

  function indexOf(kind: EventKind): KindIndex {
    const index = indexes.get(kind) ?? new KindIndex(nowMs);
    indexes.set(kind, index);
    return index;
  }

  function remove(webhookId: string): void {
    for (const index of indexes.values()) index.delete(webhookId);
  }

  return {
    set(webhookId, subscription) {
      remove(webhookId);
      return Object.entries(subscription).flatMap(([kind, filter]: [string, Filter]) =>
        indexOf(kind as EventKind).add(webhookId, filter),
      );
    },
    delete: remove,
    match: (facts) => indexes.get(facts.kind)?.match(keysOf(facts)) ?? [],
  };
}
