import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../runtime/metrics.ts";
import type { StreamStats } from "./streams.ts";

/** Registers the metrics of the streams of one HTTP worker, which are summed over the workers. */
export function registerStreamMetrics({ registry, prefix }: Metrics, stats: () => StreamStats): void {
  const registers = [registry];
  new Gauge({
    name: `${prefix}stream_connections`,
    help: "Open streams of events by transport.",
    labelNames: ["transport"],
    registers,
    collect() {
      for (const [transport, open] of Object.entries(stats().connections)) this.set({ transport }, open);
    },
  });
  new Counter({
    name: `${prefix}stream_frames_total`,
    help: "Frames that streams of events sent, by transport.",
    labelNames: ["transport"],
    registers,
    collect() {
      this.reset();
      for (const [transport, sent] of Object.entries(stats().frames)) this.inc({ transport }, sent);
    },
  });
  new Counter({
    name: `${prefix}stream_ended_total`,
    help: "Ended streams of events by reason.",
    labelNames: ["reason"],
    registers,
    collect() {
      this.reset();
      for (const [reason, ended] of Object.entries(stats().ended)) this.inc({ reason }, ended);
    },
  });
  new Counter({
    name: `${prefix}stream_refused_total`,
    help: "Streams of events that were refused for a limit.",
    registers,
    collect() {
      this.reset();
      this.inc(stats().refused);
    },
  });
  new Gauge({
    name: `${prefix}stream_lag_events`,
    help: "Events that the slowest stream of events has before it.",
    registers,
    aggregator: "max",
    collect() {
      this.set(stats().maxLagEvents);
    },
  });
  new Gauge({
    name: `${prefix}stream_replays`,
    help: "Streams that read earlier events from the log.",
    registers,
    collect() {
      this.set(stats().replays);
    },
  });
}
