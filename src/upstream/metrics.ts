import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../runtime/metrics.ts";
import { UPSTREAM_PHASES, type UpstreamProgress } from "./progress.ts";

/** Registers the progress of following. It is read at each scrape; the metrics are absent before it is known. */
export function registerUpstreamMetrics(
  { registry, prefix }: Metrics,
  latest: () => UpstreamProgress | undefined,
): void {
  const registers = [registry];
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    fill: (gauge: Gauge<Label>, progress: UpstreamProgress) => void,
  ) =>
    new Gauge<Label>({
      name: `${prefix}upstream_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        const progress = latest();
        if (progress) fill(this, progress);
      },
    });
  gauge("up", "1 while the upstream is connected and a Farcaster node, else 0.", [], (all, progress) => {
    all.set(progress.isConnected && progress.peerError === undefined ? 1 : 0);
  });
  gauge("phase", "1 for the current phase of following, 0 for the others.", ["phase"], (all, { phase }) => {
    for (const name of UPSTREAM_PHASES) all.set({ phase: name }, name === phase ? 1 : 0);
  });
  gauge(
    "applied_block",
    "Newest block whose contents, like those of all blocks before it, are in the index.",
    ["shard"],
    (all, { shards }) => {
      for (const { shard, appliedBlock } of shards) all.set({ shard }, appliedBlock);
    },
  );
  gauge("head_block", "Newest block that the upstream reported.", ["shard"], (all, { shards }) => {
    for (const { shard, headBlock } of shards) all.set({ shard }, headBlock);
  });
  gauge("lag_seconds", "Age of the applied block.", ["shard"], (all, { shards }) => {
    for (const { shard, lagSecs } of shards) if (lagSecs !== undefined) all.set({ shard }, lagSecs);
  });
  gauge("fids", "Fids of the running backfill or reconciliation.", ["state"], (all, { fids }) => {
    all.set({ state: "done" }, fids.done);
    all.set({ state: "total" }, fids.total);
  });
  new Counter({
    name: `${prefix}upstream_messages_total`,
    help: "Messages applied from the upstream.",
    registers,
    collect() {
      this.reset();
      this.inc(latest()?.messages ?? 0);
    },
  });
}
