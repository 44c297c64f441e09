import { figureOf } from "../../runtime/figures/figures.ts";
import type { EventFacts } from "./facts.ts";
import type { MatchResult, SubscriptionRefusal, SubscriptionUpdate } from "./match-service.ts";

/** Totals of all clients since the start. */
export interface MatchThreadStats {
  readonly events: number;
  readonly busyMs: number;
  /** Subscriptions that were stopped because their owner exceeded the budget. */
  readonly overBudget: number;
  /** Owners with an account, with or without a current subscription. */
  readonly owners: number;
}

/** A client of the matching thread, with its own subscriptions. Calls run in order. */
export interface MatchClient {
  update(update: SubscriptionUpdate): Promise<readonly SubscriptionRefusal[]>;
  match(events: readonly EventFacts[]): Promise<MatchResult>;
}

/** The methods of the matching thread. Each port is one client. */
export interface MatchRpc extends MatchClient {
  stats(): Promise<MatchThreadStats>;
}

/** Matches events, at least the first one. An event that cannot be matched has no receivers, so that it does not block all others. */
export async function matchFacts(matching: MatchClient, facts: readonly EventFacts[]): Promise<MatchResult> {
  try {
    return await matching.match(facts);
  } catch {
    try {
      return await matching.match(facts.slice(0, 1));
    } catch {
      return { matches: [[]], refused: [] };
    }
  }
}

/** The stats of a thread that has not started. */
export const MATCHING_AT_REST: MatchThreadStats = { events: 0, busyMs: 0, overBudget: 0, owners: 0 };

const figure = figureOf<MatchThreadStats>();

export const matchFigures = [
  figure({ read: ({ events }) => events, status: "webhooks.matching.events" }),
  figure({ read: ({ busyMs }) => Math.round(busyMs) / 1000, status: "webhooks.matching.busy_secs" }),
  figure({ read: ({ overBudget }) => overBudget, status: "webhooks.matching.over_budget" }),
];
