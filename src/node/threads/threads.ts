import type { SettingValues } from "../../config/settings/live-values.ts";
import type { ThreadReport } from "../../console/operator/reports.ts";
import { valueWithin } from "../../lib/promises.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import { PartStats } from "../part-stats.ts";
import { readVitals, type ThreadVitals } from "../workers/worker-entry.ts";
import type { WorkerHandle } from "./worker-handle.ts";

/** The threads of the process, as shown to the operator. */
export type Threads = ReturnType<typeof createThreads>;

/** The name of the main thread. */
export const MAIN_THREAD = "main";
/** Less than the time limit of a call to the main thread. */
const CONFIGURE_MS = 1_000;

export function createThreads(lines: Pick<RecentLines, "lastFaultOf">) {
  let threads = [new PartStats(MAIN_THREAD, async () => readVitals())];
  const workers = new Map<PartStats<ThreadVitals>, Pick<WorkerHandle, "configure">>();

  const vitals = () =>
    Promise.all(threads.map(async (thread) => [thread.name, await thread.request()] as const));
  return {
    /** Asks all threads. The vitals of one that does not respond are undefined. */
    vitals,
    /** Adds a worker that is starting. Returns a function that removes it after it has ended. */
    add(name: string, worker: Pick<WorkerHandle, "vitals" | "configure">): () => void {
      const added = new PartStats(name, () => worker.vitals());
      threads.push(added);
      workers.set(added, worker);
      return () => {
        workers.delete(added);
        threads = threads.filter((thread) => thread !== added);
      };
    },
    /** Changes settings in all threads except this one. Resolves to the names of those that have not responded within a second. */
    async configure(values: SettingValues): Promise<readonly string[]> {
      const late = await Promise.all(
        Array.from(workers, async ([{ name }, worker]) => {
          const applied = worker.configure(values).then(() => true);
          return (await valueWithin(applied, CONFIGURE_MS)) ? [] : [name];
        }),
      );
      return late.flat();
    },
    async reports(): Promise<readonly ThreadReport[]> {
      return (await vitals()).map(([name, now]): ThreadReport => {
        const fault = lines.lastFaultOf(name);
        return {
          name,
          state: now ? "ok" : "silent",
          loop_p99_ms: now ? Math.round(now.loopP99Ms * 10) / 10 : null,
          loop_max_ms: now ? Math.round(now.loopMaxMs * 10) / 10 : null,
          heap_bytes: now?.heapBytes ?? null,
          last_fault: fault ? { at: fault.at, message: fault.message } : null,
        };
      });
    },
  };
}
