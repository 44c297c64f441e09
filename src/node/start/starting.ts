import type { Config } from "../../config/schema.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import { startWorker, type WorkerHandle } from "../threads/worker-handle.ts";
import { workerUrl } from "../worker-urls.ts";
import type { StartingProgress, StartingWorkerInit } from "../workers/starting.worker.ts";

/**
 * Responds for a node whose start takes long: `/health` is 200, so that it is not killed, and `/ready` is 503 with what it does. The
 * work blocks this thread for minutes, so a thread of its own listens.
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
    /** Shows what the node does. Resolves when that is served; the first call starts to listen. */
    async show(progress: StartingProgress): Promise<void> {
      if (!worker) {
        const init: StartingWorkerInit = { config, startedAtMs, progress };
        worker = startWorker({
          name: "starting",
          url: workerUrl("starting"),
          init,
          keepLine: (line) => lines.add("starting", line),
          onDamage: () => {},
          // The work itself is not concerned.
          onCrash: () => {},
        });
        worker.connect(into);
      }
      facts = await worker.ready;
      out.postMessage(progress);
    },
    /** The port; undefined when it does not listen. */
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
