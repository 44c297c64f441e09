import type { Config } from "../../config/schema.ts";
import { EVENT_BUDGET_MS } from "../../webhooks/match/owner-budgets.ts";
import { createMatchThread } from "../../webhooks/match/rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** Matches events against subscriptions. It has its own thread because the regular expressions of clients are untrusted. */
runWorker<Config>(async (config) => {
  const { connect } = createMatchThread({
    minuteMs: config.webhooks.matching_budget_ms,
    eventMs: EVENT_BUDGET_MS,
  });
  return { connect, stop: async () => undefined };
});
