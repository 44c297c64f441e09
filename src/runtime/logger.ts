import { pino } from "pino";
import type { Config } from "../config/schema.ts";
import { secretTexts } from "../config/secrets.ts";
import { prettyLine } from "./pretty-log.ts";
import { isKeptLine, type KeepLine } from "./recent-lines.ts";
import { redact } from "./redact.ts";

/** Logs objects with a past-tense sentence, as in `log.info({ durationMs }, "Opened the index")`. */
export type Logger = pino.Logger;

/** The destination of finished lines. Each ends with a newline. */
export interface LogDestination {
  write(line: string): void;
}

const STDERR_FD = 2;
const CENSOR = "[redacted]";
const ERASE_TO_LINE_END = "\u001B[K";

/**
 * Creates the logger of a process or a worker: one line per event, with the level by name and the time in ISO 8601.
 *
 * Lines go to standard error, so that standard output has only the output of a command. They are written synchronously:
 * lines from before a crash are not lost, and a compiled binary needs no pino transport.
 *
 * Credentials are redacted: fields by name (`redact`), and the values of secret settings anywhere in a line.
 *
 * @param subsystem name in every line, as `log.child({ subsystem })` would add it.
 * @param keep also gets the lines of level warn and above, always as JSON.
 */
export function createLogger(
  config: Config,
  {
    subsystem,
    destination = standardError(),
    keep,
  }: { subsystem?: string; destination?: LogDestination; keep?: KeepLine | undefined } = {},
): Logger {
  const pretty = config.log.format === "pretty";
  const onTerminal = pretty && process.stderr.isTTY === true;
  const colours = onTerminal && Bun.enableANSIColors;
  // A progress line may be at the cursor.
  const lineStart = onTerminal ? ERASE_TO_LINE_END : "";
  const secrets = secretTexts(config).map((text) => JSON.stringify(text).slice(1, -1));
  const log = pino(
    {
      level: config.log.level,
      base: { ...nodeOf(config), ...(subsystem === undefined ? {} : { subsystem }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }), log: redact },
      // `redact` has already described the error and its causes as fields.
      serializers: { err: (described: unknown) => described },
    },
    {
      write(line: string) {
        let shown = line;
        for (const secret of secrets) shown = shown.replaceAll(secret, CENSOR);
        if (keep && isKeptLine(shown)) keep(shown);
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

/** Lines of nodes that share a state name theirs, because they are often read together. */
function nodeOf({ state, node }: Config): { readonly node?: string } {
  return state.url === "" || node.id === "" ? {} : { node: node.id };
}

function standardError(): LogDestination {
  const destination = pino.destination({ dest: STDERR_FD, sync: true });
  // A closed reader (EPIPE) loses the log but must not stop the service.
  destination.on("error", () => {});
  return destination;
}
