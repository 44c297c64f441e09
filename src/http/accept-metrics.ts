import { Counter, Gauge } from "prom-client";
import type { Descriptors } from "../runtime/descriptors.ts";
import type { Metrics } from "../runtime/metrics.ts";

/** Registers what shows whether connections are accepted, beside `process_open_fds`. */
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
      help: "Open file descriptors of the process from which on no connection is accepted",
      registers,
      // Every worker sees the same.
      aggregator: "first",
    }).set(descriptors.cap);
  }
  const pauses = new Counter({
    name: `${prefix}http_accept_pauses_total`,
    help: "Times that an HTTP worker stopped accepting connections because too few descriptors were left",
    registers,
  });
  return { pauses };
}
