import type { Config } from "../config/schema.ts";
import { EVENT_BUDGET_MS } from "../matching/owner-budgets.ts";
import { createMatchThread } from "../matching/rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** Matches events against subscriptions, whose regular expressions are anybody's: no other work waits for them here. */
runWorker<Config>(async (config) => {
  const { connect } = createMatchThread({
    minuteMs: config.webhooks.matching_budget_ms,
    eventMs: EVENT_BUDGET_MS,
  });
  return { connect, stop: async () => undefined };
});
