import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../runtime/metrics.ts";
import type { WriterStats } from "./rpc.ts";

/** Registers the metrics of ingest. The worker's stats are requested at each scrape. */
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
  new Gauge({
    name: `${prefix}index_bytes`,
    help: "Bytes of the index that count towards index.max_bytes: its used pages and its write-ahead log.",
    registers,
    async collect() {
      this.set((await sources.stats()).size.bytes);
    },
  });
  new Gauge({
    name: `${prefix}index_max_bytes`,
    help: "The setting index.max_bytes; 0 for no bound.",
    registers,
    async collect() {
      this.set((await sources.stats()).size.maxBytes ?? 0);
    },
  });
  new Gauge({
    name: `${prefix}index_full`,
    help: "1 while the index is at index.max_bytes, so that nothing more is merged, else 0.",
    registers,
    async collect() {
      this.set((await sources.stats()).size.isFull ? 1 : 0);
    },
  });
  // The worker's counts start at 0 when it starts, like a counter. Each scrape sets the counter to the worker's
  // count.
  new Counter({
    name: `${prefix}ingest_records_total`,
    help: "Records that were submitted to the writer, by outcome: merged, or the code of the refusal.",
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
    help: "Records that are queued for the writer.",
    registers,
    async collect() {
      this.set((await sources.stats()).queuedRecords);
    },
  });
  new Gauge({
    name: `${prefix}event_outbox_events`,
    help: "Events that have not been published to webhooks yet.",
    registers,
    async collect() {
      this.set((await sources.stats()).outbox.events);
    },
  });
  new Gauge({
    name: `${prefix}event_outbox_oldest_timestamp_seconds`,
    help: "Time at which the oldest unpublished event was applied, in unix seconds; 0 if there is none.",
    registers,
    async collect() {
      this.set((await sources.stats()).outbox.oldestAt ?? 0);
    },
  });
}
