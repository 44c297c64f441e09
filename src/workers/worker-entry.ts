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
  let body: WorkerBody | undefined;
  const tell = (message: FromWorker) => self.postMessage(message);
  self.onmessage = async (event: MessageEvent<ToWorker<Init>>) => {
    const message = event.data;
    try {
      if (message.type === "start") {
        body = await start(message.init);
        tell({ type: "started", facts: body.facts ?? {} });
      } else if (message.type === "connect") {
        body?.connect?.(message.port);
      } else {
        await body?.stop();
        tell({ type: "stopped" });
      }
    } catch (cause) {
      tell({ type: "failed", message: cause instanceof Error ? cause.message : String(cause) });
    }
  };
}
