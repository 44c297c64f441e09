import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../runtime/metrics.ts";
import type { WriterStats } from "./rpc.ts";

/** Registers what ingest tells of itself; the figures are asked for when somebody scrapes. */
export function registerIngestMetrics(
  { registry, prefix }: Metrics,
  sources: { totals: () => Readonly<Record<string, number>>; stats: () => Promise<WriterStats> },
): void {
  const registers = [registry];
  new Gauge({
    name: `${prefix}index_rows`,
    help: "Rows of the index by kind.",
    labelNames: ["kind"],
    registers,
    collect() {
      for (const [kind, count] of Object.entries(sources.totals())) this.set({ kind }, count);
    },
  });
  // The worker counts since its start, as a counter does; each scrape sets the figure to what the worker says.
  new Counter({
    name: `${prefix}ingest_records_total`,
    help: "Records that came to be merged, by outcome: merged, or the code of the refusal.",
    labelNames: ["outcome"],
    registers,
    async collect() {
      const { mergedRecords, refusedRecords } = await sources.stats();
      this.reset();
      this.inc({ outcome: "merged" }, mergedRecords);
      for (const [outcome, count] of Object.entries(refusedRecords)) this.inc({ outcome }, count);
    },
  });
  new Counter({
    name: `${prefix}ingest_commits_total`,
    help: "Commits of the writer.",
    registers,
    async collect() {
      const { commits } = await sources.stats();
      this.reset();
      this.inc(commits);
    },
  });
  new Gauge({
    name: `${prefix}ingest_queue_records`,
    help: "Records that wait for the writer.",
    registers,
    async collect() {
      this.set((await sources.stats()).queuedRecords);
    },
  });
  new Gauge({
    name: `${prefix}event_outbox_events`,
    help: "Events that wait to be published to webhooks.",
    registers,
    async collect() {
      this.set((await sources.stats()).outbox.events);
    },
  });
  new Gauge({
    name: `${prefix}event_outbox_oldest_timestamp_seconds`,
    help: "When the oldest event that waits to be published was applied, in unix seconds; 0 without any.",
    registers,
    async collect() {
      this.set((await sources.stats()).outbox.oldestAt ?? 0);
    },
  });
}
