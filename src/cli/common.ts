import { type LoadedConfig, loadConfig, processInput } from "../config/load.ts";
import { EXIT_RETRYABLE } from "../lib/failure.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Common } from "../runtime/common.ts";
import { createLogger } from "../runtime/logger.ts";
import { createMetrics } from "../runtime/metrics.ts";
import { createShutdown, handleSignals } from "../runtime/shutdown.ts";
import type { CommandContext } from "./context.ts";

/** Reads the settings that the flags, the environment and the files of this process give. */
export function readConfig(context: CommandContext): LoadedConfig {
  return loadConfig(processInput(context.flags()));
}

/**
 * Makes what every part of the process shares. A command makes it once and hands it down.
 *
 * @param options.isNode whether the process serves a node, whose log tells when it ends; other commands end in silence.
 */
export function createCommon(context: CommandContext, { isNode = false } = {}): Common {
  const { config } = readConfig(context);
  const log = createLogger(config);
  const deadlineMs = config.service.shutdown_deadline_secs * 1000;
  return {
    config,
    log,
    metrics: createMetrics(config),
    clock: systemClock,
    shutdown: createShutdown({ deadlineMs, log, routineLevel: isNode ? "info" : "debug" }),
  };
}

/**
 * Runs what goes on until it is told to stop: SIGTERM, SIGINT, SIGHUP or a fault that nobody caught.
 *
 * @param start starts the parts and registers the disposer of each. It stops early by throwing when
 *   `shutdown.signal` aborts. What it throws otherwise is thrown again, after what it had started is closed.
 * @returns the exit code of the shutdown.
 */
export async function runService(common: Common, start: () => Promise<void>): Promise<number> {
  const { shutdown, log } = common;
  const ignoreSignals = handleSignals(shutdown, log);
  // Tracked before any of it runs: a shutdown may start within its first step.
  const starting = Promise.resolve().then(start);
  shutdown.track("start", starting);
  try {
    await starting;
  } catch (fault) {
    await closeAfter(fault, common);
  }
  const exitCode = await shutdown.finished;
  ignoreSignals();
  return exitCode;
}

/**
 * Runs what has an end of its own, and closes what it registered. When it is told to stop before, it throws (as
 * `shutdown.signal.throwIfAborted()` does) and the exit code says that it is to be run again.
 *
 * @returns the exit code.
 */
export async function runTask(common: Common, work: () => Promise<void>): Promise<number> {
  const { shutdown, log } = common;
  const ignoreSignals = handleSignals(shutdown, log);
  const working = Promise.resolve().then(work);
  shutdown.track("task", working);
  let exitCode: number;
  try {
    await working;
    exitCode = await shutdown.start("done");
  } catch (fault) {
    exitCode = (await closeAfter(fault, common)) || EXIT_RETRYABLE;
  }
  ignoreSignals();
  return exitCode;
}

/** Ends the shutdown and throws `fault` again, unless it is but the echo of a shutdown that had started before. */
async function closeAfter(fault: unknown, { shutdown, log }: Common): Promise<number> {
  if (!shutdown.signal.aborted) {
    await shutdown.start("fault", EXIT_RETRYABLE);
    throw fault;
  }
  if (fault !== shutdown.signal.reason) log.warn({ err: fault }, "Failed while shutting down");
  return await shutdown.finished;
}
