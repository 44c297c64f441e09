import type { Config } from "../../config/schema.ts";
import { createMatchThread } from "../../webhooks/match/match-thread.ts";
import { MATCH_BUDGET } from "../../webhooks/match/owner-budgets.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the matching worker. */
export interface MatchingWorkerInit {
  readonly config: Config;
}

/** Matches events against subscriptions. It has a separate thread because clients' regular expressions are untrusted. */
runWorker<MatchingWorkerInit>(async () => {
  const { connect } = createMatchThread(MATCH_BUDGET);
  return { connect, stop: async () => undefined };
});
