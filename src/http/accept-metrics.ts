import { Counter, Gauge } from "prom-client";
import type { Descriptors } from "../runtime/descriptors.ts";
import type { Metrics } from "../runtime/metrics.ts";

/** Registers the metrics that show whether the process accepts connections. */
export function createAcceptMetrics(
  { registry, prefix }: Metrics,
  { isAccepting, descriptors }: { isAccepting: () => boolean; descriptors: Descriptors | undefined },
): { readonly pauses: Counter } {
  const registers = [registry];
  new Gauge({
    name: `${prefix}http_accepting_workers`,
    help: "HTTP workers that accept connections",
    registers,
    collect() {
      this.set(isAccepting() ? 1 : 0);
    },
  });
  if (descriptors !== undefined) {
    new Gauge({
      name: `${prefix}http_descriptor_cap`,
      help: "Number of open file descriptors at which the process stops accepting connections",
      registers,
      // All workers have the same cap.
      aggregator: "first",
    }).set(descriptors.cap);
  }
  const pauses = new Counter({
    name: `${prefix}http_accept_pauses_total`,
    help: "Number of times an HTTP worker stopped accepting connections because too few descriptors were left",
    registers,
  });
  return { pauses };
}
