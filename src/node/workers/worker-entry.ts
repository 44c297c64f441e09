import { heapSize } from "bun:jsc";
import type { Config } from "../../config/schema.ts";
import { applyValues, type SettingValues } from "../../config/settings/live-values.ts";
import { type Damage, onDamage } from "../../db/sqlite/storage-error.ts";
import { type KeepLine, limitedLines } from "../../runtime/log/recent-lines.ts";
import { ownLoopDelays } from "../../runtime/loop-monitor.ts";

/** A message from the process to one of its workers. */
export type ToWorker<Init> =
  | { readonly type: "start"; readonly init: Init }
  | { readonly type: "connect"; readonly port: MessagePort; readonly early: readonly unknown[] }
  | { readonly type: "vitals" }
  | { readonly type: "settings"; readonly values: SettingValues }
  | { readonly type: "stop" };

/** A message from a worker to the process. */
export type FromWorker =
  | { readonly type: "started"; readonly facts: Record<string, unknown> }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "vitals"; readonly vitals: ThreadVitals }
  | { readonly type: "settings" }
  | { readonly type: "line"; readonly line: string }
  | { readonly type: "damage"; readonly damage: Damage }
  | { readonly type: "stopped" };

/** The load of a thread. */
export interface ThreadVitals {
  /** How late its event loop was in the last minute. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  /** Size of its JavaScript objects at the last garbage collection; null before the first. */
  readonly heapBytes: number | null;
}

/** Reads the vitals of this thread. Delays are measured from the first call on. */
export function readVitals(): ThreadVitals {
  const { p99Ms, maxMs } = ownLoopDelays();
  return { loopP99Ms: p99Ms, loopMaxMs: maxMs, heapBytes: heapSize() || null };
}

/** What a worker's body gets in addition to its initial message. */
export interface WorkerContext {
  /** Sends a log line to the process, for the operator. */
  readonly keepLine: KeepLine;
}

/** A running worker. */
export interface WorkerBody {
  /** Facts about the worker, such as its port, that the process gets when it is ready. */
  readonly facts?: Record<string, unknown>;
  /** Serves requests of another thread over a port. */
  connect?(port: MessagePort): void;
  /** Finishes accepted work, then releases all resources. */
  stop(): Promise<void>;
}

declare const self: Worker;

/** Runs a worker: starts its body, reports success or failure, and stops it on request. */
export function runWorker<Init extends { readonly config: Config }>(
  start: (init: Init, context: WorkerContext) => Promise<WorkerBody>,
): void {
  let config: Config | undefined;
  const body = Promise.withResolvers<WorkerBody>();
  // `start` reports its own failure. Later messages that await the body need not report it again.
  body.promise.catch(() => undefined);
  const send = (message: FromWorker) => self.postMessage(message);
  const keepLine = limitedLines((line) => send({ type: "line", line }));
  onDamage((damage) => send({ type: "damage", damage }));
  self.onmessage = async (event: MessageEvent<ToWorker<Init>>) => {
    const message = event.data;
    try {
      if (message.type === "start") {
        config = message.init.config;
        const started = await start(message.init, { keepLine });
        body.resolve(started);
        send({ type: "started", facts: started.facts ?? {} });
      } else if (message.type === "vitals") {
        send({ type: "vitals", vitals: readVitals() });
      } else if (message.type === "settings") {
        if (config) applyValues(config, message.values);
        send({ type: "settings" });
      } else if (message.type === "connect") {
        const { port, early } = message;
        (await body.promise).connect?.(port);
        for (const data of early) port.dispatchEvent(new MessageEvent("message", { data }));
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
