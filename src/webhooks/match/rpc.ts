import { type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { EventFacts } from "./facts.ts";
import {
  createMatchService,
  type MatchResult,
  type MatchService,
  type SubscriptionUpdate,
} from "./match-service.ts";
import { type MatchBudget, OwnerBudgets } from "./owner-budgets.ts";

/** Requests to the matching thread. Each port is one client with its own subscriptions. */
export type MatchRequest =
  | { readonly type: "update"; readonly update: SubscriptionUpdate }
  | { readonly type: "match"; readonly events: readonly EventFacts[] }
  | { readonly type: "stats" };

export type MatchResponse =
  | { readonly type: "update" }
  | { readonly type: "match"; readonly result: MatchResult }
  | { readonly type: "stats"; readonly stats: MatchThreadStats };

/** Totals of all clients since the start. */
export interface MatchThreadStats {
  readonly events: number;
  readonly busyMs: number;
  /** Subscriptions that were stopped for their owner's budget. */
  readonly overBudget: number;
  /** Owners with an account, with or without a current subscription. */
  readonly owners: number;
}

/** A client of the matching thread. Requests are handled in order. */
export interface MatchClient {
  update(update: SubscriptionUpdate): Promise<void>;
  match(events: readonly EventFacts[]): Promise<MatchResult>;
}

/** The matching thread. Its clients connect through ports and share the budgets of owners. */
export interface MatchThread {
  connect(port: MessagePort): void;
}

export function createMatchThread(budget: MatchBudget, nowMs = () => performance.now()): MatchThread {
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
    connect(port) {
      const service = createMatchService(budgets, nowMs);
      services.push(service);
      serveRpc<MatchRequest, MatchResponse>(port, (request) => {
        if (request.type === "stats") return { type: "stats", stats: stats() };
        if (request.type === "match") return { type: "match", result: service.match(request.events) };
        service.update(request.update);
        return { type: "update" };
      });
    },
  };
}

type MatchRpc = RpcClient<MatchRequest, MatchResponse>;

export function matchClientOver(client: MatchRpc): MatchClient {
  return {
    async update(update) {
      await client.call({ type: "update", update });
    },
    async match(events) {
      const response = await client.call({ type: "match", events });
      if (response.type !== "match") throw new Error("the matching thread replied to another request");
      return response.result;
    },
  };
}

export async function matchThreadStats(client: MatchRpc): Promise<MatchThreadStats> {
  const response = await client.call({ type: "stats" });
  if (response.type !== "stats") throw new Error("the matching thread replied to another request");
  return response.stats;
}
