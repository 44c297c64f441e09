import { RetryableError } from "../../lib/failure.ts";
import type { FromWorker, ToWorker } from "./worker-entry.ts";

/** A worker, from when it is told to start. */
export interface WorkerHandle {
  /**
   * Resolves with what the worker tells of itself when it is ready.
   *
   * @throws RetryableError when the body does not start, with the body's own message.
   */
  readonly ready: Promise<Readonly<Record<string, unknown>>>;
  /** Gives the worker a port over which another thread asks it; what is asked before it is ready waits. */
  connect(port: MessagePort): void;
  /** Lets the worker finish what it accepted; resolves when it has let go of everything. */
  stop(): Promise<void>;
}

/**
 * Starts a worker.
 *
 * @param init what its body starts with; `transfer` lists the ports in it.
 * @param onCrash told when the worker dies after it was ready and nobody asked it to stop.
 */
export function startWorker<Init>(options: {
  name: string;
  url: string;
  init: Init;
  transfer?: MessagePort[];
  onCrash: (message: string) => void;
}): WorkerHandle {
  const { name, url, init, transfer = [], onCrash } = options;
  const worker = new Worker(url, { name });
  const tell = (message: ToWorker<Init>, ports: MessagePort[] = []) => worker.postMessage(message, ports);
  const started = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const stopped = Promise.withResolvers<void>();
  let isReady = false;
  const fail = (message: string) => {
    started.reject(new RetryableError(`${name} worker failed: ${message}`));
    // One that did not start has said so, and has nothing to let go of.
    if (!isReady) return stopped.resolve();
    onCrash(message);
    stopped.reject(new Error(message));
  };
  // Who waits hears of a failure; a crash has been told already.
  started.promise.catch(() => undefined);
  stopped.promise.catch(() => undefined);
  worker.onerror = (event) => fail(event.message);
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    if (message.type === "failed") return fail(message.message);
    if (message.type === "stopped") return stopped.resolve();
    isReady = true;
    started.resolve(message.facts);
  };
  tell({ type: "start", init }, transfer);
  return {
    ready: started.promise,
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

/** The ways to a worker that may start later than those who ask it: what they ask waits until it is there. */
export class WorkerChannels {
  #worker: WorkerHandle | undefined;
  #waiting: MessagePort[] = [];

  /** A new way. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    if (this.#worker) this.#worker.connect(port1);
    else this.#waiting.push(port1);
    return port2;
  }

  /** The worker is there: every way leads to it from now on. */
  attach(worker: WorkerHandle): WorkerHandle {
    this.#worker = worker;
    for (const port of this.#waiting) worker.connect(port);
    this.#waiting = [];
    return worker;
  }
}
