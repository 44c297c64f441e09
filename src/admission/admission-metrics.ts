import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { Admission } from "./admission.ts";

/** Registers what clients hold of each budget, and how often one had no room. */
export function registerAdmissionMetrics(metrics: Metrics, { budgets }: Pick<Admission, "budgets">): void {
  const { counter, gaugeBy } = statsMetrics(metrics, async () =>
    Object.entries(budgets).map(([budget, each]) => ({ budget, ...each.use() })),
  );
  gaugeBy("budget", "admission_held", "What all clients hold of a budget, in its unit.", (uses) =>
    Object.fromEntries(uses.map(({ budget, held }) => [budget, held])),
  );
  counter(
    "admission_refused_total",
    "Requests for which a budget had no room, by the bound: the client's share or the total.",
    ["budget", "bound"],
    (metric, uses) => {
      for (const { budget, refused } of uses)
        for (const [bound, count] of Object.entries(refused)) metric.inc({ budget, bound }, count);
    },
  );
}
