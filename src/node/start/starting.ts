import type { Config } from "../../config/schema.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import { startWorker, type WorkerHandle } from "../threads/worker-handle.ts";
import { workerUrl } from "../worker-urls.ts";
import type { StartingProgress, StartingWorkerInit } from "../workers/starting.worker.ts";

/**
 * Responds to requests while a node's start takes long: `/health` is 200, so that the node is not killed, and `/ready` is 503 with the
 * current task. The work blocks this thread for minutes, so a separate thread listens.
 */
export type Starting = ReturnType<typeof createStarting>;

export function createStarting(
  config: Config,
  { lines, startedAtMs }: { readonly lines: Pick<RecentLines, "add">; readonly startedAtMs: number },
) {
  let worker: WorkerHandle | undefined;
  let facts: Readonly<Record<string, unknown>> | undefined;
  const { port1: out, port2: into } = new MessageChannel();
  return {
    /** Shows what the node is doing. Resolves when that is served; the first call starts listening. */
    async show(progress: StartingProgress): Promise<void> {
      if (!worker) {
        const init: StartingWorkerInit = { config, startedAtMs, progress };
        worker = startWorker({
          name: "starting",
          url: workerUrl("starting"),
          init,
          keepLine: (line) => lines.add("starting", line),
          onDamage: () => {},
          // A crash does not affect the work itself.
          onCrash: () => {},
        });
        worker.connect(into);
      }
      facts = await worker.ready;
      out.postMessage(progress);
    },
    /** Returns the port; undefined while it does not listen. */
    port: (): number | undefined => (facts === undefined ? undefined : Number(facts.port)),
    /** Stops listening. */
    async stop(): Promise<void> {
      const stopped = worker?.stop();
      worker = undefined;
      out.close();
      await stopped;
    },
  };
}
