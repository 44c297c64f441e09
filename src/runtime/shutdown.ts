import { EXIT_OK, EXIT_RETRYABLE } from "../lib/failure.ts";
import type { Logger } from "./logger.ts";

/** Undoes one part: closes it after what it has accepted is done. It bounds its own waiting. */
export type Disposer = () => void | Promise<void>;

/** The one list of what has to be closed when the process ends. */
export interface Shutdown {
  /** Aborts when the shutdown starts, so that loops take no new work. */
  readonly signal: AbortSignal;
  /** Resolves with the exit code when everything is closed or the deadline has passed. */
  readonly finished: Promise<number>;
  /**
   * Registers a disposer. They run one after the other, the last registered first: what was made later stands on what
   * was made before. One that is registered while the shutdown runs is next; after its end, it runs at once.
   */
  add(name: string, dispose: Disposer): void;
  /**
   * Makes the shutdown wait for work that is under way before it closes anything under it. The work watches `signal`;
   * how it ends is its caller's affair.
   */
  track(name: string, work: Promise<unknown>): void;
  /**
   * Starts the shutdown; only the first call counts. Resolves as `finished` does: with `exitCode` when every disposer
   * succeeded in time, else with 1, or with `exitCode` where that already tells of a failure.
   */
  start(reason: string, exitCode?: number): Promise<number>;
}

const EXIT_UNCLEAN = 1;
/** 128 + the number of the signal, as a shell reports a process that it killed. */
const KILLED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = Object.keys(KILLED_BY) as (keyof typeof KILLED_BY)[];

/**
 * Makes the shutdown of a process.
 *
 * @param options.deadlineMs for all disposers together.
 * @param options.routineLevel of the lines that tell of a shutdown without faults.
 */
export function createShutdown(options: {
  readonly deadlineMs: number;
  readonly log: Logger;
  readonly routineLevel: "info" | "debug";
}): Shutdown {
  const { deadlineMs, log, routineLevel } = options;
  const controller = new AbortController();
  const finished = Promise.withResolvers<number>();
  const waiting: { name: string; dispose: Disposer }[] = [];
  const underWay = new Map<Promise<unknown>, string>();
  let ended = false;

  /** Whether the disposer succeeded. */
  const attempt = async ({ name, dispose }: { name: string; dispose: Disposer }): Promise<boolean> => {
    try {
      await dispose();
      return true;
    } catch (err) {
      log.error({ err, part: name }, "Failed to close a part");
      return false;
    }
  };

  const run = async (reason: string, exitCode: number): Promise<number> => {
    const startedMs = performance.now();
    const cut = Promise.withResolvers<"cut">();
    const timer = setTimeout(cut.resolve, deadlineMs, "cut");
    log[routineLevel]({ reason }, "Started to shut down");
    const giveUp = (part: string): number => {
      const left = waiting.map(({ name }) => name);
      log.error({ part, left, deadlineMs }, "Gave up on a part that did not end in time");
      return exitCode || EXIT_UNCLEAN;
    };
    for (const [work, name] of underWay) {
      if ((await Promise.race([work, cut.promise])) === "cut") return giveUp(name);
    }
    let clean = true;
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const outcome = await Promise.race([attempt(entry), cut.promise]);
      if (outcome === "cut") return giveUp(entry.name);
      clean &&= outcome;
    }
    clearTimeout(timer);
    log[routineLevel]({ durationMs: performance.now() - startedMs }, "Shut down");
    return clean ? exitCode : exitCode || EXIT_UNCLEAN;
  };

  return {
    signal: controller.signal,
    finished: finished.promise,
    add(name, dispose) {
      if (ended) void attempt({ name, dispose });
      else waiting.push({ name, dispose });
    },
    track(name, work) {
      const settled: Promise<unknown> = work.then(
        () => underWay.delete(settled),
        () => underWay.delete(settled),
      );
      underWay.set(settled, name);
    },
    start(reason, exitCode = EXIT_OK) {
      if (!controller.signal.aborted) {
        controller.abort(new Error(`shutting down: ${reason}`));
        void run(reason, exitCode).then((code) => {
          ended = true;
          finished.resolve(code);
        });
      }
      return finished.promise;
    },
  };
}

/**
 * Starts the shutdown on the first SIGTERM, SIGINT or SIGHUP (the terminal has gone), and on a fault that nobody caught (`EXIT_RETRYABLE`: a supervisor may
 * start the process again). A second signal ends the process at once.
 *
 * @returns takes the handlers off again.
 */
export function handleSignals(shutdown: Shutdown, log: Logger): () => void {
  let signals = 0;
  const onSignal = (signal: keyof typeof KILLED_BY) => {
    signals += 1;
    if (signals > 1) {
      log.warn({ signal }, "Ended at once on a second signal");
      process.exit(KILLED_BY[signal]);
    }
    void shutdown.start(signal);
  };
  const onFault = (err: unknown) => {
    log.fatal({ err }, "Met a fault that nobody caught");
    void shutdown.start("fault", EXIT_RETRYABLE);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on("uncaughtException", onFault);
  process.on("unhandledRejection", onFault);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off("uncaughtException", onFault);
    process.off("unhandledRejection", onFault);
  };
}
