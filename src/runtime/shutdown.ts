import { EXIT_OK, EXIT_RETRYABLE } from "../lib/failure.ts";
import type { Logger } from "./log/logger.ts";

/**
 * Closes one part after its accepted work is done. It limits its own time.
 *
 * @param exitCode the exit code with which the shutdown was started.
 */
export type Disposer = (exitCode: number) => void | Promise<void>;

/** The list of parts to close when the process ends. */
export type Shutdown = ReturnType<typeof createShutdown>;

const EXIT_UNCLEAN = 1;
/** 128 + the signal number, the exit code that a shell reports for a killed process. */
const KILLED_BY = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = Object.keys(KILLED_BY) as (keyof typeof KILLED_BY)[];

/**
 * Creates the shutdown of a process.
 *
 * @param options.deadlineMs time limit for all disposers together.
 * @param options.routineLevel the default log level of a shutdown without errors.
 */
export function createShutdown(options: {
  readonly deadlineMs: number;
  readonly log: Logger;
  readonly routineLevel: "info" | "debug";
}) {
  const { deadlineMs, log, routineLevel } = options;
  const controller = new AbortController();
  const finished = Promise.withResolvers<number>();
  const waiting: { name: string; dispose: Disposer }[] = [];
  const inProgress = new Map<Promise<unknown>, string>();
  let isFinished = false;

  let startedWith: number = EXIT_OK;
  /** Returns whether the disposer succeeded. */
  const attempt = async ({ name, dispose }: { name: string; dispose: Disposer }): Promise<boolean> => {
    try {
      await dispose(startedWith);
      return true;
    } catch (err) {
      log.error({ err, part: name }, "Failed to close a part");
      return false;
    }
  };

  const run = async (reason: string, exitCode: number, level: "info" | "debug"): Promise<number> => {
    const startedMs = performance.now();
    const cut = Promise.withResolvers<"cut">();
    const timer = setTimeout(cut.resolve, deadlineMs, "cut");
    log[level]({ reason }, "Started to shut down");
    const giveUp = (part: string): number => {
      const left = waiting.map(({ name }) => name);
      log.error({ part, left, deadlineMs }, "Gave up on a part that did not close in time");
      return exitCode || EXIT_UNCLEAN;
    };
    for (const [work, name] of inProgress) {
      if ((await Promise.race([work, cut.promise])) === "cut") return giveUp(name);
    }
    let clean = true;
    for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
      const outcome = await Promise.race([attempt(entry), cut.promise]);
      if (outcome === "cut") return giveUp(entry.name);
      clean &&= outcome;
    }
    clearTimeout(timer);
    log[level]({ durationMs: performance.now() - startedMs }, "Shut down");
    return clean ? exitCode : exitCode || EXIT_UNCLEAN;
  };

  return {
    /** Aborts when the shutdown starts, so that loops stop taking work. */
    signal: controller.signal,
    /** Resolves to the exit code when everything is closed or the deadline has passed. */
    finished: finished.promise,
    /**
     * Registers a disposer. Disposers run one after the other in reverse order, because later parts depend on earlier ones. One that is
     * registered during the shutdown runs next; after the shutdown, it runs at once.
     */
    add(name: string, dispose: Disposer): void {
      if (isFinished) void attempt({ name, dispose });
      else waiting.push({ name, dispose });
    },
    /**
     * Makes the shutdown wait for work in progress before it closes anything. The work watches `signal`. Its caller handles the
     * result.
     */
    track(name: string, work: Promise<unknown>): void {
      const settled: Promise<unknown> = work.then(
        () => inProgress.delete(settled),
        () => inProgress.delete(settled),
      );
      inProgress.set(settled, name);
    },
    /**
     * Starts the shutdown; only the first call counts. Resolves like `finished`: to `exitCode` if every disposer succeeded in time,
     * otherwise to `exitCode` if that is a failure, or else to 1.
     *
     * @param level the log level of the shutdown, unless there are errors.
     */
    start(reason: string, exitCode: number = EXIT_OK, level = routineLevel): Promise<number> {
      if (!controller.signal.aborted) {
        startedWith = exitCode;
        controller.abort(new Error(`shutting down: ${reason}`));
        void run(reason, exitCode, level).then((code) => {
          isFinished = true;
          finished.resolve(code);
        });
      }
      return finished.promise;
    },
  };
}

/**
 * Starts the shutdown on the first SIGTERM, SIGINT or SIGHUP (the terminal was closed), and on an uncaught error, with `EXIT_RETRYABLE`
 * so that a supervisor may restart the process. A second signal ends the process at once.
 *
 * @returns a function that removes the handlers.
 */
export function handleSignals(shutdown: Shutdown, log: Logger): () => void {
  let signals = 0;
  const onSignal = (signal: keyof typeof KILLED_BY) => {
    signals += 1;
    if (signals > 1) {
      log.warn({ signal }, "Exited immediately on a second signal");
      process.exit(KILLED_BY[signal]);
    }
    void shutdown.start(signal);
  };
  const onFault = (err: unknown) => {
    log.fatal({ err }, "Caught an unhandled error");
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
