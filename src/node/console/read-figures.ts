import { statSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import type { Reading } from "../../console/pulse/reading.ts";
import type { Figures, SeriesName } from "../../console/pulse/series.ts";
import { indexPath } from "../../db/index/database.ts";
import { statePath } from "../../db/state/database.ts";
import { type HttpFigures, NO_RESPONSES } from "../../http/http-metrics.ts";
import type { UnsentBytesView } from "../../http/unsent-bytes.ts";
import type { Descriptors } from "../../runtime/descriptors.ts";
import type { StreamSlotStats } from "../../stream/slots.ts";
import type { UpstreamProgress } from "../../upstream/progress.ts";
import type { PartStats } from "../part-stats.ts";
import type { NodeStats } from "../status.ts";
import type { StorageWatch } from "../storage-watch.ts";
import type { UpstreamWatch } from "../upstream-watch.ts";
import { MAIN_THREAD, type Threads } from "./threads.ts";

export interface FigureSources {
  readonly config: Pick<Config, "data" | "state">;
  readonly stats: NodeStats;
  /** Of each HTTP worker. */
  readonly http: readonly PartStats<HttpFigures>[];
  readonly threads: Threads;
  readonly storageWatch: Pick<StorageWatch, "diskSpace" | "damageReason" | "writeFaultReason">;
  readonly upstream: Pick<UpstreamWatch, "latest"> | undefined;
  readonly streams: () => StreamSlotStats;
  readonly unsent: UnsentBytesView;
  readonly descriptors: Descriptors | undefined;
}

/** Parts whose stats ask the state. A PostgreSQL is asked for them once a minute. */
const POSTGRES_EVERY = 12;

/** Returns the function that reads what the parts report for one sample. A part that does not answer in time is left out. */
export function createFigureReader(sources: FigureSources): () => Promise<Reading> {
  const { config, stats, threads, upstream, streams, unsent, descriptors, storageWatch } = sources;
  const asksStateEvery = config.state.url === "" ? 1 : POSTGRES_EVERY;
  let readings = 0;

  return async () => {
    const asksState = readings++ % asksStateEvery === 0;
    const ofState = <S>(part: PartStats<S>) => (asksState ? part.request() : part.latest);
    const [ingest, deliveries, sends, writes, state, vitals] = await Promise.all([
      stats.ingest.request(),
      ofState(stats.delivery),
      ofState(stats.fanOut),
      stats.writes && ofState(stats.writes),
      stats.state?.request(),
      threads.vitals(),
      ...sources.http.map((worker) => worker.request()),
    ]);
    const { user, system } = process.cpuUsage();
    const now: Partial<Record<SeriesName, number | null | undefined>> = {
      ingest_queued: ingest?.queuedRecords,
      outbox_events: ingest?.outbox.events,
      outbox_oldest_secs: ageSecs(ingest?.outbox.oldestAt),
      deliveries_waiting: deliveries?.deliveries?.queued,
      delivery_oldest_due_secs: deliveries && deliveries.oldestDueMs / 1000,
      campaigns: sends && sends.campaignsRunning + (sends.campaignsQueued ?? 0),
      writes_queued: writes?.queue?.count,
      streams: countOf(streams()),
      upstream_lag_secs: knownLagSecs(upstream?.latest()),
      resident_bytes: process.memoryUsage.rss(),
      open_files: descriptors?.open(),
      unsent_bytes: unsent.usedBytes,
      disk_free_bytes: storageWatch.diskSpace()?.freeBytes,
      ...fileSizes(config),
      state_waiting_writes: state?.waiting,
      ...loopDelays(vitals),
    };
    return {
      atMs: performance.now(),
      http: summed(sources.http.flatMap(({ latest }) => latest ?? [])),
      merged: ingest?.mergedRecords,
      deliveryAttempts: sum(deliveries?.attempts),
      pushes: sum(sends?.tokens),
      cpuMs: (user + system) / 1000,
      now: withValues(now),
    };
  };
}

/** How far the shard that is furthest behind is behind, in whole seconds; undefined until each has applied a block. */
export function knownLagSecs(progress: UpstreamProgress | undefined): number | undefined {
  const lags = progress?.shards.map(({ lagSecs }) => lagSecs ?? Number.NaN) ?? [];
  const highest = Math.max(...lags);
  return lags.length === 0 || Number.isNaN(highest) ? undefined : Math.round(highest);
}

/** The sizes of the databases and their write-ahead logs. */
export function fileSizes({ data, state }: Pick<Config, "data" | "state">) {
  const index = indexPath(data.dir);
  const ofState = statePath(data.dir);
  return {
    index_bytes: sizeOf(index),
    index_wal_bytes: sizeOf(`${index}-wal`),
    ...(state.url === "" ? { state_bytes: sizeOf(ofState), state_wal_bytes: sizeOf(`${ofState}-wal`) } : {}),
  };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The highest delay of the threads with one name: there are several HTTP workers. */
function loopDelays(vitals: Awaited<ReturnType<Threads["vitals"]>>) {
  const delays: Record<string, number> = {};
  for (const [name, now] of vitals) {
    if (!now) continue;
    const series = `loop_${name === MAIN_THREAD ? name : name.replace(/_\d+$/, "")}_ms`;
    delays[series] = Math.max(delays[series] ?? 0, now.loopP99Ms);
  }
  return delays;
}

function summed(figures: readonly HttpFigures[]): HttpFigures {
  return figures.reduce(
    (all, one) => ({
      requests: all.requests + one.requests,
      clientErrors: all.clientErrors + one.clientErrors,
      serverErrors: all.serverErrors + one.serverErrors,
      boundsSecs: all.boundsSecs,
      buckets: all.buckets.map((count, at) => count + (one.buckets[at] ?? 0)),
    }),
    NO_RESPONSES,
  );
}

/** The streams of all transports. */
export function countOf({ connections }: StreamSlotStats): number {
  return Object.values(connections).reduce((all, count) => all + count, 0);
}

function sum(counts: readonly { readonly count: number }[] | undefined): number | undefined {
  return counts?.reduce((all, { count }) => all + count, 0);
}

function ageSecs(at: number | null | undefined): number | undefined {
  if (at === undefined) return undefined;
  return at === null ? 0 : Math.max(0, Math.floor(Date.now() / 1000) - at);
}

function withValues(figures: Partial<Record<SeriesName, number | null | undefined>>): Figures {
  return Object.fromEntries(
    Object.entries(figures).filter(([, value]) => value !== undefined && value !== null),
  );
}
