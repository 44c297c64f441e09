import type { Config } from "../../config/schema.ts";
import { EVENT_BUDGET_MS } from "../../webhooks/match/owner-budgets.ts";
import { createMatchThread } from "../../webhooks/match/rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the matching worker. */
export type MatchingWorkerInit = Config;

/** Matches events against subscriptions. It has its own thread because the regular expressions of clients are untrusted. */
runWorker<MatchingWorkerInit>(async (config) => {
  const { connect } = createMatchThread({
    minuteMs: config.webhooks.matching_budget_ms,
    eventMs: EVENT_BUDGET_MS,
  });
  return { connect, stop: async () => undefined };
});
