import { connectRpc } from "../../src/lib/port-rpc.ts";
import type { MatchBudget } from "../../src/webhooks/match/owner-budgets.ts";
import { createMatchThread, type MatchRpc } from "../../src/webhooks/match/rpc.ts";

export const UNLIMITED: MatchBudget = {
  minuteMs: Number.POSITIVE_INFINITY,
  eventMs: Number.POSITIVE_INFINITY,
};

/** A client of matching on the thread of the test, over the same port as between threads. */
export function startMatching(budget = UNLIMITED, nowMs?: () => number): MatchRpc {
  const { port1, port2 } = new MessageChannel();
  createMatchThread(budget, nowMs).connect(port1);
  return connectRpc<MatchRpc>(port2);
}
