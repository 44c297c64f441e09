import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../app/metrics.ts";
import type { IngestStats } from "./queue.ts";

/** Registers what ingest tells of itself; the figures are asked for when somebody scrapes. */
export function registerIngestMetrics(
  { registry, prefix }: Metrics,
  sources: { totals: () => Readonly<Record<string, number>>; stats: () => Promise<IngestStats> },
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
  const records = new Counter({
    name: `${prefix}ingest_records_total`,
    help: "Records that came to be merged, by outcome: merged, or the code of the refusal.",
    labelNames: ["outcome"],
    registers,
  });
  const commits = new Counter({
    name: `${prefix}ingest_commits_total`,
    help: "Commits of the writer.",
    registers,
  });
  new Gauge({
    name: `${prefix}ingest_queue_records`,
    help: "Records that wait for the writer.",
    registers,
    async collect() {
      const stats = await sources.stats();
      this.set(stats.queuedRecords);
      // The worker counts since its start, as a counter does; it is set to what the worker says.
      records.reset();
      records.inc({ outcome: "merged" }, stats.mergedRecords);
      for (const [outcome, count] of Object.entries(stats.refusedRecords)) records.inc({ outcome }, count);
      commits.reset();
      commits.inc(stats.commits);
    },
  });
}
