/** A message from the process to one of its workers. */
export type ToWorker<Init> =
  | { readonly type: "start"; readonly init: Init }
  | { readonly type: "connect"; readonly port: MessagePort }
  | { readonly type: "stop" };

/** A message from a worker to the process. */
export type FromWorker =
  | { readonly type: "started"; readonly facts: Record<string, unknown> }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "stopped" };

/** A running worker. */
export interface WorkerBody {
  /** Facts about the worker that the process gets when it is ready, such as its port. */
  readonly facts?: Record<string, unknown>;
  /** Serves requests of another thread over a port. */
  connect?(port: MessagePort): void;
  /** Finishes accepted work, then releases all resources. */
  stop(): Promise<void>;
}

declare const self: Worker;

/** Runs a worker: starts its body, reports success or failure, and stops it on request. */
export function runWorker<Init>(start: (init: Init) => Promise<WorkerBody>): void {
  const body = Promise.withResolvers<WorkerBody>();
  // `start` reports its own failure. Later messages that await the body need not report it again.
  body.promise.catch(() => undefined);
  const send = (message: FromWorker) => self.postMessage(message);
  self.onmessage = async (event: MessageEvent<ToWorker<Init>>) => {
    const message = event.data;
    try {
      if (message.type === "start") {
        const started = await start(message.init);
        body.resolve(started);
        send({ type: "started", facts: started.facts ?? {} });
      } else if (message.type === "connect") {
        (await body.promise).connect?.(message.port);
      } else {
        await (await body.promise).stop();
        send({ type: "stopped" });
      }
    } catch (cause) {
      body.reject(cause);
      send({ type: "failed", message: cause instanceof Error ? cause.message : String(cause) });
    }
  };
}
