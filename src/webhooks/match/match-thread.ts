import { serveRpc } from "../../lib/port-rpc.ts";
import { createMatchService, type MatchService } from "./match-service.ts";
import { type MatchBudget, OwnerBudgets } from "./owner-budgets.ts";
import type { MatchRpc, MatchThreadStats } from "./rpc.ts";

/** The matching thread. Its clients connect through ports and share the budgets of owners. */
export function createMatchThread(budget: MatchBudget, nowMs = () => performance.now()) {
  const budgets = new OwnerBudgets(budget, nowMs);
  const services: MatchService[] = [];
  const stats = (): MatchThreadStats => {
    const sums = services.reduce(
      (sum, service) => {
        const { events, busyMs } = service.stats();
        return { events: sum.events + events, busyMs: sum.busyMs + busyMs };
      },
      { events: 0, busyMs: 0 },
    );
    return { ...sums, overBudget: budgets.overBudget, owners: budgets.owners };
  };
  return {
    connect(port: MessagePort): void {
      const service = createMatchService(budgets, nowMs);
      services.push(service);
      serveRpc<MatchRpc>(port, { update: service.update, match: service.match, stats });
    },
  };
}
