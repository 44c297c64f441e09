import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { SignerStats } from "./signer-stats.ts";

/** Registers metrics of managed signers. */
export function registerSignerMetrics(metrics: Metrics, stats: () => Promise<SignerStats>): void {
  const { gauge, gaugeBy } = statsMetrics(metrics, stats);
  gaugeBy(
    "key_id",
    "managed_signers",
    "Managed signers by the id of the master key that they are sealed under.",
    ({ countsByKeyId }) => countsByKeyId,
  );
  gauge("managed_signers_to_reseal", "Managed signers under former master keys.", ({ toReseal }) => toReseal);
}
