import type { ThreadReport } from "../../console/operator/reports.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import { PartStats } from "../part-stats.ts";
import { readVitals, type ThreadVitals } from "../workers/worker-entry.ts";

/** The threads of the process, for the operator. */
export interface Threads {
  /** Adds a worker that is starting. Returns a function that removes one that has ended. */
  add(name: string, worker: { vitals(): Promise<ThreadVitals> }): () => void;
  /** Asks all threads. The vitals of one that does not respond are undefined. */
  vitals(): Promise<readonly (readonly [name: string, vitals: ThreadVitals | undefined])[]>;
  reports(): Promise<readonly ThreadReport[]>;
}

/** The name of the main thread. */
export const MAIN_THREAD = "main";

export function createThreads(lines: Pick<RecentLines, "lastFaultOf">): Threads {
  let threads = [new PartStats(MAIN_THREAD, async () => readVitals())];

  const vitals = () =>
    Promise.all(threads.map(async (thread) => [thread.name, await thread.request()] as const));
  return {
    vitals,
    add(name, worker) {
      const added = new PartStats(name, () => worker.vitals());
      threads.push(added);
      return () => {
        threads = threads.filter((thread) => thread !== added);
      };
    },
    async reports() {
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
