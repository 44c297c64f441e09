import type { SettingValues } from "../../config/settings/live-values.ts";
import type { Damage } from "../../db/sqlite/storage-error.ts";
import { RetryableError } from "../../lib/failure.ts";
import type { KeepLine } from "../../runtime/log/recent-lines.ts";
import type { FromWorker, ThreadVitals, ToWorker } from "../workers/worker-entry.ts";

/** A started worker, which may not be ready yet. */
export interface WorkerHandle {
  /**
   * Resolves to the worker's facts when it is ready.
   *
   * @throws RetryableError with the message of the body if it does not start.
   */
  readonly ready: Promise<Readonly<Record<string, unknown>>>;
  /**
   * Sends the worker a port for requests of another thread. Requests wait until the worker is ready.
   *
   * @param early the first requests, which were already taken from the port.
   */
  connect(port: MessagePort, early?: readonly unknown[]): void;
  /** Asks for the worker's vitals. There is no response while its event loop is busy. */
  vitals(): Promise<ThreadVitals>;
  /** Changes settings. Resolves once the worker has them, which a busy event loop delays. */
  configure(values: SettingValues): Promise<void>;
  /** Lets the worker finish its accepted work. Resolves when it has released its resources. */
  stop(): Promise<void>;
}

/**
 * Starts a worker.
 *
 * @param init the initial message of its body. Ports in it are transferred.
 * @param keepLine receives the worker's log lines of level info and above.
 * @param onDamage called for each damaged database that a statement of the worker finds.
 * @param onCrash called if the worker fails after it was ready, unless it was stopped.
 */
export function startWorker<Init>(options: {
  name: string;
  url: string;
  init: Init;
  keepLine: KeepLine;
  onDamage: (damage: Damage) => void;
  onCrash: (message: string) => void;
}): WorkerHandle {
  const { name, url, init, keepLine, onDamage, onCrash } = options;
  const worker = new Worker(url, { name });
  const send = (message: ToWorker<Init>, ports: MessagePort[] = []) => worker.postMessage(message, ports);
  const started = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const stopped = Promise.withResolvers<void>();
  let isReady = false;
  let asked: PromiseWithResolvers<ThreadVitals>[] = [];
  const configured: (() => void)[] = [];
  const fail = (message: string) => {
    started.reject(new RetryableError(`${name} worker failed: ${message}`));
    // A worker that did not start has reported that, and has nothing to release.
    if (!isReady) return stopped.resolve();
    onCrash(message);
    stopped.reject(new Error(message));
  };
  // A failure is reported through `ready` or `onCrash`; it must not become an unhandled rejection as well.
  started.promise.catch(() => undefined);
  stopped.promise.catch(() => undefined);
  worker.onerror = (event) => fail(event.message);
  worker.onmessage = (event: MessageEvent<FromWorker>) => {
    const message = event.data;
    if (message.type === "failed") return fail(message.message);
    if (message.type === "stopped") return stopped.resolve();
    if (message.type === "line") return keepLine(message.line);
    if (message.type === "damage") return onDamage(message.damage);
    if (message.type === "settings") return configured.shift()?.();
    if (message.type === "vitals") {
      for (const { resolve } of asked) resolve(message.vitals);
      asked = [];
      return;
    }
    isReady = true;
    started.resolve(message.facts);
  };
  send({ type: "start", init }, portsIn(init));
  return {
    ready: started.promise,
    connect: (port, early = []) => send({ type: "connect", port, early }, [port]),
    vitals() {
      const answer = Promise.withResolvers<ThreadVitals>();
      asked.push(answer);
      send({ type: "vitals" });
      return answer.promise;
    },
    configure(values) {
      const applied = Promise.withResolvers<void>();
      configured.push(applied.resolve);
      send({ type: "settings", values });
      return applied.promise;
    },
    async stop() {
      send({ type: "stop" });
      try {
        await stopped.promise;
      } finally {
        worker.terminate();
      }
    },
  };
}

/** Returns the ports in a message, which is a tree of plain objects and values. */
function portsIn(value: unknown): MessagePort[] {
  if (value instanceof MessagePort) return [value];
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return [];
  return Object.values(value).flatMap(portsIn);
}

/** The port of a client waiting for the worker, with the requests that have arrived. */
interface WaitingPort {
  readonly port: MessagePort;
  readonly early: unknown[];
}

/** Channels to a worker that may start later than its clients. Their requests wait until it is attached. */
export class WorkerChannels {
  readonly #onRequest: (() => void) | undefined;
  #worker: WorkerHandle | undefined;
  #waiting: WaitingPort[] = [];

  /** @param onRequest called for each request that waits for the worker, so that it can be started. */
  constructor(onRequest?: () => void) {
    this.#onRequest = onRequest;
  }

  /** Opens a channel. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    if (this.#worker) this.#worker.connect(port1);
    else this.#waiting.push(this.#watch(port1));
    return port2;
  }

  /** Connects all open and future channels to the worker. */
  attach(worker: WorkerHandle): WorkerHandle {
    this.#worker = worker;
    for (const { port, early } of this.#waiting) {
      // Requests that have not been taken from the port move with it.
      port.onmessage = null;
      worker.connect(port, early);
    }
    this.#waiting = [];
    return worker;
  }

  #watch(port: MessagePort): WaitingPort {
    const early: unknown[] = [];
    const onRequest = this.#onRequest;
    if (onRequest) {
      port.onmessage = ({ data }) => {
        early.push(data);
        onRequest();
      };
    }
    return { port, early };
  }
}
