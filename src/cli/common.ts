import type { ConfigInput } from "../config/layers.ts";
import { type LoadedConfig, loadConfig, processInput, type SettingsReader } from "../config/load.ts";
import { EXIT_RETRYABLE } from "../lib/failure.ts";
import { loadWithoutInvalid } from "../node/console/started-settings.ts";
import { dropLeftovers } from "../node/start/leftovers.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Common } from "../runtime/common.ts";
import { type DataDir, openDataDir } from "../runtime/data-dir.ts";
import { createMetrics } from "../runtime/figures/metrics.ts";
import { createLogger } from "../runtime/log/logger.ts";
import type { KeepLine } from "../runtime/log/recent-lines.ts";
import { becomeOwnerOf } from "../runtime/process.ts";
import { createShutdown, handleSignals } from "../runtime/shutdown.ts";
import type { CommandContext } from "./context.ts";
import { withCommandName } from "./shell/command-name.ts";

/**
 * Reads the settings from the flags, the environment and the files of this process, and logs which file is used. If the file of the
 * operator's page is invalid, they are the settings with which a node would start, with a warning: a backup must not have to wait for its
 * correction.
 */
export function readConfig(context: CommandContext, reader: SettingsReader = "node"): LoadedConfig {
  const input = processInput(context.flags());
  return noted(reader === "node" ? loadWithoutInvalid(input) : loadConfig(input, reader));
}

/** The same for the node itself and for commands that check its settings: an invalid file of the operator's page is a ConfigError. */
export function readConfigAsWritten(
  context: CommandContext,
  input: ConfigInput = processInput(context.flags()),
): LoadedConfig {
  return noted(loadConfig(input));
}

function noted(loaded: LoadedConfig): LoadedConfig {
  const { config, file, warnings } = loaded;
  const log = createLogger(config);
  for (const warning of warnings) log.warn(warning);
  if (file !== undefined) log.info({ file }, "Read the settings");
  return loaded;
}

interface CommonOptions {
  /** Whether the process serves a node. A node logs its shutdown; other commands do not. */
  readonly isNode?: boolean;
  /** Receives the log lines of level warn and above. */
  readonly keepLine?: KeepLine;
  readonly reader?: SettingsReader;
  /** Default: the settings of this process. */
  readonly loaded?: LoadedConfig;
}

/**
 * Creates the services that all parts of the process share. A command creates them once and passes them down.
 *
 */
export function createCommon(
  context: CommandContext,
  { isNode = false, keepLine, reader, loaded = readConfig(context, reader) }: CommonOptions = {},
): Common {
  // A separate copy, in which a node applies its operator's changes.
  const config = structuredClone(loaded.config);
  const log = createLogger(config, { keep: keepLine, wording: withCommandName });
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
 * Runs a service until SIGTERM, SIGINT, SIGHUP or an uncaught error stops it.
 *
 * @param start starts the parts and registers the disposer of each. It stops early by throwing if `shutdown.signal` aborts. Other errors
 * are rethrown after the started parts are closed.
 * @returns the exit code of the shutdown.
 */
export async function runService(common: Common, start: () => Promise<void>): Promise<number> {
  const { shutdown, log } = common;
  const ignoreSignals = handleSignals(shutdown, log);
  // Tracked before it runs, because a shutdown may start within its first step.
  const starting = Promise.resolve().then(start);
  shutdown.track("start", starting);
  try {
    await starting.catch((fault) => closeAfter(fault, common));
    return await shutdown.finished;
  } finally {
    // Also after a fault, because another start may follow, and signals must not reach the one that has ended.
    ignoreSignals();
  }
}

/**
 * Runs a task to its end, and closes the parts that it registered. If the process is stopped earlier, the task throws, as
 * `shutdown.signal.throwIfAborted()` does, and the exit code is that of a retryable failure.
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

/** Completes the shutdown. Rethrows `fault` unless the shutdown itself caused it. */
async function closeAfter(fault: unknown, { shutdown, log }: Common): Promise<number> {
  if (!shutdown.signal.aborted) {
    // The fault, which its catcher reports, says enough.
    await shutdown.start("fault", EXIT_RETRYABLE, "debug");
    throw fault;
  }
  if (fault !== shutdown.signal.reason) log.warn({ err: fault }, "Failed while shutting down");
  return await shutdown.finished;
}

/**
 * Locks the data directory of a task until its end, and deletes what killed processes left in it. A root process becomes one
 * of the directory's user, so that it can read only what that user can read.
 *
 * @throws like `becomeOwnerOf` and `openDataDir`.
 */
export function openTaskDataDir(
  { config, log, shutdown }: Pick<Common, "config" | "log" | "shutdown">,
  options: Parameters<typeof openDataDir>[1] = {},
): DataDir {
  const user = becomeOwnerOf(config.data.dir);
  if (user) log.info(user, "Became the user of the data directory, who may read fewer files than root");
  const dataDir = openDataDir(config.data.dir, options);
  shutdown.add("data directory", () => dataDir.release());
  dropLeftovers(dataDir.path);
  return dataDir;
}
