import { createLogger, type LogDestination, type Logger } from "../../src/runtime/log/logger.ts";
import { configWith } from "../runtime/config.ts";

/** A logger without output. */
export const silentLog: Logger = createLogger(configWith("log.level=silent"));

/** A logger of the program whose lines of this level and above go to `write`, as JSON. */
export function logTo(write: LogDestination["write"], level = "info"): Logger {
  return createLogger(configWith(`log.level=${level}`), { destination: { write } });
}
