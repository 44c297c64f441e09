import { RetryableError } from "../lib/failure.ts";
import type { FromWorker, ToWorker } from "../workers/worker-entry.ts";

/** A worker that runs. */
export interface WorkerHandle {
  /** What the worker told of itself when it was ready. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Gives the worker a port over which another thread asks it. */
  connect(port: MessagePort): void;
  /** Lets the worker finish what it accepted; resolves when it has let go of everything. */
  stop(): Promise<void>;
}

/**
 * Starts a worker and waits until it is ready.
 *
 * @param init what its body starts with; `transfer` lists the ports in it.
 * @param onCrash told when the worker dies after it was ready and nobody asked it to stop.
 * @throws RetryableError when the body does not start, with the body's own message.
 */
export async function startWorker<Init>(options: {
  name: string;
  url: string;
  init: Init;
  transfer?: MessagePort[];
  onCrash: (message: string) => void;
}): Promise<WorkerHandle> {
  const { name, url, init, transfer = [], onCrash } = options;
  const worker = new Worker(url, { name });
  const tell = (message: ToWorker<Init>, ports: MessagePort[] = []) => worker.postMessage(message, ports);
  const started = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const stopped = Promise.withResolvers<void>();
  let isReady = false;
  const fail = (message: string) => {
    if (isReady) onCrash(message);
    started.reject(new RetryableError(`${name} worker failed: ${message}`));
    stopped.reject(new Error(message));
  };
  stopped.promise.catch(() => {
    // A crash has been told already; only a stop that waits needs to hear of it again.
  });
  worker.onerror = (event) => fail(event.message);
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    if (message.type === "failed") return fail(message.message);
    if (message.type === "stopped") return stopped.resolve();
    isReady = true;
    started.resolve(message.facts);
  };
  tell({ type: "start", init }, transfer);
  const facts = await started.promise;
  return {
    facts,
    connect: (port) => tell({ type: "connect", port }, [port]),
    async stop() {
      tell({ type: "stop" });
      try {
        await stopped.promise;
      } finally {
        worker.terminate();
      }
    },
  };
}
