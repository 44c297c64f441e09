import { connectRpc } from "../../src/lib/port-rpc.ts";
import { createMatchService } from "../../src/webhooks/match/match-service.ts";
import { createMatchThread } from "../../src/webhooks/match/match-thread.ts";
import { type MatchBudget, OwnerBudgets } from "../../src/webhooks/match/owner-budgets.ts";
import type { MatchClient, MatchRpc } from "../../src/webhooks/match/rpc.ts";

export const UNLIMITED: MatchBudget = {
  minuteMs: Number.POSITIVE_INFINITY,
  eventMs: Number.POSITIVE_INFINITY,
};

/** Matching without a port, which would keep the process alive. */
export function directMatching(): MatchClient {
  const nowMs = () => performance.now();
  const service = createMatchService(new OwnerBudgets(UNLIMITED, nowMs), nowMs);
  return { update: async (update) => service.update(update), match: async (events) => service.match(events) };
}

/** A client of matching on the thread of the test, over the same port as between threads. */
export function startMatching(budget = UNLIMITED, nowMs?: () => number): MatchRpc {
  const { port1, port2 } = new MessageChannel();
  createMatchThread(budget, nowMs).connect(port1);
  return connectRpc<MatchRpc>(port2);
}

/** The bans of an owner who has none. */
export const noBans = async () => [];
