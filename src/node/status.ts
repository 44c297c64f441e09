import type { Pauses } from "../cluster/pauses.ts";
import type { Config } from "../config/schema.ts";
import { readTotals } from "../db/index/counts/totals.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { isDemo } from "../db/index/identity.ts";
import { figureOf, gauge, gaugeBy, statusOf } from "../runtime/figures/figures.ts";
import { type FigureSource, requestStats } from "./part-stats.ts";
import type { Threads } from "./threads/threads.ts";

const figure = figureOf<{
  readonly db: IndexDatabase;
  readonly maxBytes: number;
  readonly isReady: () => boolean;
}>();

/** The figures of the whole node. */
export const nodeFigures = [
  figure({
    read: ({ isReady }) => isReady(),
    metric: gauge("node_ready", "1 while /ready responds with 200, else 0."),
  }),
  figure({ read: ({ db }) => db.sizeBytes(), status: "index.size_bytes" }),
  figure({
    read: ({ maxBytes }) => maxBytes,
    metric: gauge("index_max_bytes", "The setting index.max_bytes; 0 for no bound."),
    status: ["index.max_bytes", (bytes) => bytes || null],
  }),
  figure({
    read: ({ db }) => readTotals(db),
    metric: gaugeBy("kind", "index_rows", "Rows of the index by kind."),
    status: "index.rows",
  }),
];

/** Builds the status. If a part does not respond in time, its section is null, and `unavailable` names the part. */
export async function nodeStatus(
  config: Config,
  deps: {
    readonly db: IndexDatabase;
    readonly sources: readonly FigureSource[];
    readonly threads: Pick<Threads, "reports">;
    readonly pauses: Pick<Pauses, "latest">;
  },
) {
  const { db, sources, threads, pauses } = deps;
  const [reports, running] = await Promise.all([
    Promise.all(sources.map(async (source) => ({ ...source, now: await requestStats(source) }))),
    threads.reports(),
  ]);
  return {
    network: config.protocol.network,
    demo: isDemo(db),
    unavailable: reports.flatMap(({ part, now }) => (part && now === undefined ? [part.name] : [])),
    // Only nodes that share a state have this section.
    nodes: null,
    ...statusOf(reports),
    switches: pauses.latest().map(({ name, reason, pausedBy, pausedAt }) => ({
      name,
      reason,
      paused_by: pausedBy,
      paused_at: pausedAt,
    })),
    // Omits last faults, which may contain more than the public should read.
    threads: running.map(({ last_fault: _, ...thread }) => thread),
  };
}
