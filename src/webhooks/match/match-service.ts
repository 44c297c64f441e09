import type { Subscription } from "../../db/state/records.ts";
import type { EventFacts } from "./facts.ts";
import { createMatcher } from "./matcher.ts";
import type { OwnerBudgets } from "./owner-budgets.ts";

/** After so long, a request is answered with the events that were matched by then, and others have their turn. */
const SLICE_MS = 50;

/** A subscription of somebody whose budget pays for it. Ids are the client's own: two clients may use the same. */
export interface SubscriptionEntry {
  readonly id: string;
  /** Names the owner among those of all clients, such as `fid:3`. */
  readonly ownerId: string;
  readonly subscription: Subscription;
}

export interface SubscriptionUpdate {
  /** New ones, and those that take the place of one with the same id. */
  readonly set: readonly SubscriptionEntry[];
  readonly removed: readonly string[];
}

/** A subscription that is not evaluated. */
export interface SubscriptionRefusal {
  readonly id: string;
  /** For its owner: an expression that does not pass, too many of one owner, or the owner is over its budget. */
  readonly reason: string;
}

export interface MatchResult {
  /** The subscriptions that want each event, for the first events of the request: one of them at least. */
  readonly matches: readonly (readonly string[])[];
  /**
   * All subscriptions that are not evaluated, until they are removed or set again. The matches lack them, so a client that
   * must not lose an event acts on a refusal before it takes the event for matched.
   */
  readonly refused: readonly SubscriptionRefusal[];
}

export interface MatchStats {
  readonly events: number;
  readonly busyMs: number;
}

/** Matches the events of one client against its subscriptions. */
export interface MatchService {
  update(update: SubscriptionUpdate): void;
  /** @throws when the first event cannot be matched; the others are not looked at then. */
  match(events: readonly EventFacts[]): MatchResult;
  stats(): MatchStats;
}

/**
 * @param budgets shared by all clients of the thread.
 * @param nowMs a monotonic clock, by which costs are measured.
 */
export function createMatchService(budgets: OwnerBudgets, nowMs: () => number): MatchService {
  const refused = new Map<string, string>();
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
    update({ set, removed }) {
      for (const id of removed) {
        matcher.delete(id);
        refused.delete(id);
      }
      for (const { id, subscription, ownerId } of set) {
        const reason = matcher.set(id, subscription, ownerId);
        if (reason === undefined) refused.delete(id);
        else refused.set(id, reason);
      }
    },

    match(events) {
      const startMs = nowMs();
      try {
        const matches = matchSlice(events, startMs);
        stats = { ...stats, events: stats.events + matches.length };
        return { matches, refused: [...refused].map(([id, reason]) => ({ id, reason })) };
      } finally {
        stats = { ...stats, busyMs: stats.busyMs + nowMs() - startMs };
      }
    },

    stats: () => stats,
  };
}
