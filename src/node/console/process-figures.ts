import { statSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { indexPath } from "../../db/index/database.ts";
import { statePath } from "../../db/state/database.ts";
import { type Figure, figureOf } from "../../runtime/figures/figures.ts";
import type { Descriptors } from "../../runtime/process.ts";
import { MAIN_THREAD, type Threads } from "../threads/threads.ts";

/** Returns a function that reads the sizes in bytes of the databases and their write-ahead logs. */
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

interface ProcessStats {
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly openFiles: number | undefined;
  readonly files: ReturnType<typeof fileSizes>;
  /** The highest delay of the threads with the same name, because there are several HTTP workers. */
  readonly delaysMs: ReadonlyMap<string, number>;
}

/** Reads the resource usage of the process and its threads. */
export async function readProcessStats({
  config,
  threads,
  descriptors,
}: {
  readonly config: Pick<Config, "data" | "state">;
  readonly threads: Pick<Threads, "vitals">;
  readonly descriptors: Descriptors | undefined;
}): Promise<ProcessStats> {
  const delaysMs = new Map<string, number>();
  for (const [thread, now] of await threads.vitals()) {
    const name = thread.replace(/_\d+$/, "");
    if (now) delaysMs.set(name, Math.max(delaysMs.get(name) ?? 0, now.loopP99Ms));
  }
  const { user, system } = process.cpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    residentBytes: process.memoryUsage.rss(),
    openFiles: descriptors?.open(),
    files: fileSizes(config),
    delaysMs,
  };
}

const figure = figureOf<ProcessStats>();

const fileFigure = (name: "index_bytes" | "index_wal_bytes" | "state_bytes" | "state_wal_bytes") =>
  figure({ read: ({ files }) => files[name], history: { series: name, minute: "max", isPrivate: true } });

/** Returns the figures of the process that only the operator sees. `threads` are the names of its workers. */
export function processFigures(threads: readonly string[]): readonly Figure<ProcessStats>[] {
  return [
    figure({
      read: ({ cpuMs }) => cpuMs,
      // Milliseconds of CPU time per second are tenths of a percent.
      history: { series: "cpu_percent", minute: "mean", rate: 0.1, isPrivate: true },
    }),
    figure({
      read: ({ residentBytes }) => residentBytes,
      history: { series: "resident_bytes", minute: "max", isPrivate: true },
    }),
    figure({
      read: ({ openFiles }) => openFiles,
      history: { series: "open_files", minute: "max", isPrivate: true },
    }),
    fileFigure("index_bytes"),
    fileFigure("index_wal_bytes"),
    fileFigure("state_bytes"),
    fileFigure("state_wal_bytes"),
    ...[MAIN_THREAD, "http", ...threads].map((thread) =>
      figure({
        read: ({ delaysMs }) => delaysMs.get(thread),
        history: { series: `loop_${thread}_ms`, minute: "max", isPrivate: true },
      }),
    ),
  ];
}
