import type { Config } from "../../config/schema.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import { startWorker, type WorkerHandle } from "../threads/worker-handle.ts";
import { workerUrl } from "../worker-urls.ts";
import type { StartingProgress, StartingWorkerInit } from "../workers/starting.worker.ts";

/**
 * Responds for a node whose start takes long: `/health` is 200, so that it is not killed, and `/ready` is 503 with what it does. The
 * work blocks this thread for minutes, so a thread of its own listens.
 */
export interface Starting {
  /** Shows what the node does. Resolves when that is served; the first call starts to listen. */
  show(progress: StartingProgress): Promise<void>;
  /** The port; undefined when it does not listen. */
  port(): number | undefined;
  /** Stops listening. */
  stop(): Promise<void>;
}

export function createStarting(
  config: Config,
  { lines, startedAtMs }: { readonly lines: Pick<RecentLines, "add">; readonly startedAtMs: number },
): Starting {
  let worker: WorkerHandle | undefined;
  let facts: Readonly<Record<string, unknown>> | undefined;
  const { port1: out, port2: into } = new MessageChannel();
  return {
    async show(progress) {
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
    port: () => (facts === undefined ? undefined : Number(facts.port)),
    async stop() {
      const stopped = worker?.stop();
      worker = undefined;
      out.close();
      await stopped;
    },
  };
}
