import type { Subscription } from "../subscription.ts";
import type { EventFacts } from "./facts.ts";
import { createMatcher } from "./matcher.ts";
import type { OwnerBudgets } from "./owner-budgets.ts";

/** After this time a request returns the events matched so far, so that other clients get their turn. */
const SLICE_MS = 50;

/** A subscription and the owner whose budget is charged. Ids are scoped to the client. */
export interface SubscriptionEntry {
  readonly id: string;
  /** Id of the owner across all clients, such as `fid:3`. */
  readonly ownerId: string;
  readonly subscription: Subscription;
  /** Whether the owner has the same subscription at another client; then its expressions do not count again. */
  readonly isSecond?: boolean;
  /** Whether it is a preview, which the stats exclude. */
  readonly isPreview?: boolean;
}

export interface SubscriptionUpdate {
  /** New subscriptions, and replacements by id. */
  readonly set: readonly SubscriptionEntry[];
  readonly removed: readonly string[];
}

/** A subscription that is no longer evaluated. */
export interface SubscriptionRefusal {
  readonly id: string;
  /** Text for the owner: an invalid expression, too many expressions, or an exceeded budget. */
  readonly reason: string;
}

export interface MatchResult {
  /** The matching subscriptions of each event, for at least the first event of the request. */
  readonly matches: readonly (readonly string[])[];
  /**
   * All subscriptions that are not evaluated, until they are removed or set again. They are missing from the matches, so a
   * client that must not lose an event handles refusals before it uses the matches.
   */
  readonly refused: readonly SubscriptionRefusal[];
}

export interface MatchStats {
  readonly events: number;
  readonly busyMs: number;
}

/** Matches the events of one client against its subscriptions. */
export type MatchService = ReturnType<typeof createMatchService>;

/**
 * @param budgets shared by all clients of the thread.
 * @param nowMs a monotonic clock that measures costs.
 */
export function createMatchService(budgets: OwnerBudgets, nowMs: () => number) {
  const refused = new Map<string, string>();
  const previews = new Set<string>();
  const matcher = createMatcher({
    nowMs,
    budgets,
    onOverBudget: (id, reason) => void refused.set(id, reason),
  });
  let stats: MatchStats = { events: 0, busyMs: 0 };

  function matchSlice(events: readonly EventFacts[], startMs: number): string[][] {
    const matches: string[][] = [];
    for (const event of events) {
      try {
        matches.push(matcher.match(event));
      } catch (cause) {
        if (matches.length === 0) throw cause;
        break;
      }
      if (nowMs() - startMs >= SLICE_MS) break;
    }
    return matches;
  }

  return {
    /** Returns which of the set subscriptions are refused. */
    update({ set, removed }: SubscriptionUpdate): SubscriptionRefusal[] {
      for (const id of removed) {
        matcher.delete(id);
        refused.delete(id);
        previews.delete(id);
      }
      return set.flatMap(({ id, subscription, ownerId, isSecond, isPreview }) => {
        if (isPreview) previews.add(id);
        const reason = matcher.set(id, subscription, ownerId, { isSecond, isPreview });
        if (reason === undefined) refused.delete(id);
        else refused.set(id, reason);
        return reason === undefined ? [] : [{ id, reason }];
      });
    },

    /** @throws if the first event cannot be matched. */
    match(events: readonly EventFacts[]): MatchResult {
      const startMs = nowMs();
      try {
        const matches = matchSlice(events, startMs);
        // Previews use a separate client.
        if (previews.size === 0) stats = { ...stats, events: stats.events + matches.length };
        return { matches, refused: [...refused].map(([id, reason]) => ({ id, reason })) };
      } finally {
        stats = { ...stats, busyMs: stats.busyMs + nowMs() - startMs };
      }
    },

    stats: (): MatchStats => stats,
  };
}
