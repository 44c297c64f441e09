import { pino } from "pino";
import type { Config } from "../config/schema.ts";
import { secretTexts } from "../config/secrets.ts";
import { prettyLine } from "./pretty-log.ts";
import { redact } from "./redact.ts";

/** Takes log objects with a past-tense sentence, as in `log.info({ durationMs }, "Opened the index")`. */
export type Logger = pino.Logger;

/** Where finished lines go; each one ends with a newline. */
export interface LogDestination {
  write(line: string): void;
}

const STDERR_FD = 2;
const CENSOR = "[redacted]";
const ERASE_TO_LINE_END = "\u001B[K";

/**
 * Makes the logger of a process or a worker: one line per event, with the level by name and the time in ISO 8601.
 *
 * Lines go to standard error, so that standard output carries nothing but what a command is asked for. They are written
 * synchronously: what was logged before a crash is there after it, and a compiled binary needs no pino transport.
 *
 * Credentials do not pass: fields by their names (`redact`), and the secret settings by their text wherever it stands.
 *
 * @param subsystem name that every line carries, as `log.child({ subsystem })` would add it.
 */
export function createLogger(
  config: Config,
  { subsystem, destination = standardError() }: { subsystem?: string; destination?: LogDestination } = {},
): Logger {
  const pretty = config.log.format === "pretty";
  const onTerminal = pretty && process.stderr.isTTY === true;
  const colours = onTerminal && Bun.enableANSIColors;
  // A line of progress may stand where the next log line goes.
  const lineStart = onTerminal ? ERASE_TO_LINE_END : "";
  const secrets = secretTexts(config).map((text) => JSON.stringify(text).slice(1, -1));
  const log = pino(
    {
      level: config.log.level,
      base: subsystem === undefined ? null : { subsystem },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }), log: redact },
      // `redact` has described the error already, with its causes as fields.
      serializers: { err: (described: unknown) => described },
    },
    {
      write(line: string) {
        let shown = line;
        for (const secret of secrets) shown = shown.replaceAll(secret, CENSOR);
        destination.write(pretty ? lineStart + prettyLine(shown, colours) : shown);
      },
    },
  );
  // pino formats the fields of a call but not those of a child.
  const { child } = log;
  log.child = function (this: Logger, bindings, options) {
    return child.call(this, redact(bindings), options);
  } as Logger["child"];
  return log;
}

function standardError(): LogDestination {
  const destination = pino.destination({ dest: STDERR_FD, sync: true });
  // A reader that went away (EPIPE) costs the log, not the service.
  destination.on("error", () => {});
  return destination;
}
