/** The talk between the process and one of its workers. */
export type ToWorker<Init> =
  | { readonly type: "start"; readonly init: Init }
  | { readonly type: "connect"; readonly port: MessagePort }
  | { readonly type: "stop" };

export type FromWorker =
  | { readonly type: "started"; readonly facts: Record<string, unknown> }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "stopped" };

/** What a worker does once it runs. */
export interface WorkerBody {
  /** Told to the process when the worker is ready, such as the port that it listens on. */
  readonly facts?: Record<string, unknown>;
  /** Takes a port over which another worker asks. */
  connect?(port: MessagePort): void;
  /** Finishes what was accepted, then lets go of everything. */
  stop(): Promise<void>;
}

declare const self: Worker;

/** Runs a worker: starts its body when told to, answers for its fate, stops it when told to. */
export function runWorker<Init>(start: (init: Init) => Promise<WorkerBody>): void {
  const body = Promise.withResolvers<WorkerBody>();
  // Who connects to a body that failed to start, or stops it, hears of that from the start itself.
  body.promise.catch(() => undefined);
  const tell = (message: FromWorker) => self.postMessage(message);
  self.onmessage = async (event: MessageEvent<ToWorker<Init>>) => {
    const message = event.data;
    try {
      if (message.type === "start") {
        const started = await start(message.init);
        body.resolve(started);
        tell({ type: "started", facts: started.facts ?? {} });
      } else if (message.type === "connect") {
        (await body.promise).connect?.(message.port);
      } else {
        await (await body.promise).stop();
        tell({ type: "stopped" });
      }
    } catch (cause) {
      body.reject(cause);
      tell({ type: "failed", message: cause instanceof Error ? cause.message : String(cause) });
    }
  };
}
