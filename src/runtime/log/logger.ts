import { writeSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { secretTexts } from "../../config/secrets.ts";
import { parseJson } from "../../lib/json.ts";
import { printable } from "../../lib/text.ts";
import { isKeptLine, type KeepLine } from "./recent-lines.ts";
import { redact } from "./redact.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export type LogLevel = (typeof LEVELS)[number];

/** Logs a sentence, or fields and a sentence. An error is logged as the field `err`, and supplies the sentence if there is none. */
export interface LogMethod {
  (msg: string): void;
  (fields: object, msg?: string): void;
}

/** Logs objects with a past-tense sentence, as in `log.info({ durationMs }, "Opened the index")`. */
export interface Logger extends Readonly<Record<LogLevel, LogMethod>> {
  isLevelEnabled(level: LogLevel): boolean;
  /** Returns a logger whose lines also have these fields. */
  child(bindings: object): Logger;
}

/** The destination of finished lines. Each ends with a newline. */
export interface LogDestination {
  write(line: string): void;
}

const STDERR_FD = 2;
const CENSOR = "[redacted]";
const ERASE_TO_LINE_END = "\u001B[K";
const FULL_PIPE_WAIT_MS = 10;

/**
 * Creates the logger of a process or a worker: one line per event, with the level by name and the time in ISO 8601.
 *
 * Lines are written to standard error, so that standard output has only the output of a command. They are written synchronously, so lines
 * from before a crash are not lost. It uses no library, because each of a dozen threads would load 2 MB for what `JSON.stringify` does
 * once `redact` has bounded the fields.
 *
 * Credentials are redacted: fields by name (`redact`), and the values of secret settings anywhere in a line.
 *
 * @param subsystem name in every line, as with `log.child({ subsystem })`.
 * @param keep also receives the lines of level info and above, always as JSON.
 * @param wording changes the sentence of each line.
 */
export function createLogger(
  config: Config,
  {
    subsystem,
    destination = standardError,
    keep,
    wording = (sentence) => sentence,
  }: {
    subsystem?: string;
    destination?: LogDestination;
    keep?: KeepLine | undefined;
    wording?: (sentence: string) => string;
  } = {},
): Logger {
  const pretty = config.log.format === "pretty";
  const onTerminal = pretty && process.stderr.isTTY === true;
  const colours = onTerminal && Bun.enableANSIColors;
  // A progress line may be at the cursor.
  const lineStart = onTerminal ? ERASE_TO_LINE_END : "";
  const secrets = secretTexts(config).map((text) => JSON.stringify(text).slice(1, -1));
  const base = { ...nodeOf(config), ...(subsystem === undefined ? {} : { subsystem }) };
  return loggerTo(config.log, base, wording, (line) => {
    let shown = line;
    for (const secret of secrets) shown = shown.replaceAll(secret, CENSOR);
    if (keep && isKeptLine(shown)) keep(shown);
    destination.write(pretty ? lineStart + prettyLine(shown, colours) : shown);
  });
}

/** @param settings read for each line, because the level may change while a node runs. */
function loggerTo(
  settings: Pick<Config["log"], "level">,
  bindings: object,
  wording: (sentence: string) => string,
  write: (line: string) => void,
): Logger {
  const isLevelEnabled = (level: LogLevel) =>
    settings.level !== "silent" && LEVELS.indexOf(level) >= LEVELS.indexOf(settings.level);
  const methodOf = (level: LogLevel): LogMethod => {
    return (event: string | object, msg?: string) => {
      if (isLevelEnabled(level)) write(lineOf(level, { bindings, wording }, event, msg));
    };
  };
  return {
    ...(Object.fromEntries(LEVELS.map((level) => [level, methodOf(level)])) as Record<LogLevel, LogMethod>),
    isLevelEnabled,
    child: (added) => loggerTo(settings, { ...bindings, ...redact(added) }, wording, write),
  };
}

/** A field with the name of one of the logger's own fields does not replace it. */
function lineOf(
  level: LogLevel,
  { bindings, wording }: { readonly bindings: object; readonly wording: (sentence: string) => string },
  event: string | object,
  sentence?: string,
): string {
  const own = { level, time: new Date().toISOString() };
  const fields = typeof event === "string" ? {} : redact(event instanceof Error ? { err: event } : event);
  const msg =
    typeof event === "string" ? event : (sentence ?? (event instanceof Error ? event.message : undefined));
  return `${JSON.stringify(Object.assign({ ...own }, bindings, fields, { ...own, msg: msg && wording(msg) }))}\n`;
}

/** Returns the node's id for each line if nodes share a state, because their logs are often read together. */
function nodeOf({ state, node }: Config): { readonly node?: string } {
  return state.url === "" || node.id === "" ? {} : { node: node.id };
}

/**
 * Waits while the pipe is full. If the reader has closed it (EPIPE) or the disk is full, the log is lost, but the service must not stop.
 */
const standardError: LogDestination = {
  write(line) {
    let rest: Uint8Array = Buffer.from(line);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(STDERR_FD, rest));
      } catch (cause) {
        if ((cause as { code?: unknown }).code !== "EAGAIN") return;
        Bun.sleepSync(FULL_PIPE_WAIT_MS);
      }
    }
  },
};

const COLOURS: Readonly<Record<string, string>> = {
  trace: "\x1b[90m",
  debug: "\x1b[36m",
  info: "\x1b[32m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
  fatal: "\x1b[1;31m",
};
const DIM = "\x1b[2m";
const RESET = "\x1b[0m";

/** Formats a JSON log line for people: time, level, subsystem, message, then the fields, then stacks. Returns other lines unchanged. */
function prettyLine(line: string, colours: boolean): string {
  const event = parseEvent(line);
  if (event === undefined) return line;
  const { level, time, subsystem, msg, err, ...fields } = event;
  const paint = (colour: string, text: string) =>
    colours && text !== "" ? `${colour}${text}${RESET}` : text;
  const words = [
    paint(DIM, String(time).slice(11, 23)),
    paint(COLOURS[String(level)] ?? "", String(level).toUpperCase().padEnd(5)),
    subsystem === undefined ? "" : paint(DIM, `[${plain(subsystem)}]`),
    plain(msg ?? ""),
    ...Object.entries(fields).map(([name, value]) => `${paint(DIM, `${name}=`)}${plain(value)}`),
  ];
  return `${words.filter((word) => word !== "").join(" ")}\n${errorLines(err)}`;
}

function parseEvent(line: string): Record<string, unknown> | undefined {
  const event = parseJson(line);
  return typeof event === "object" && event !== null ? { ...event } : undefined;
}

/** Escapes characters that could move the cursor, change the terminal's colors or reorder the text. */
function plain(value: unknown): string {
  return printable(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

function errorLines(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  const { stack, message, cause } = err as { stack?: unknown; message?: unknown; cause?: unknown };
  const lines = String(stack ?? message ?? "").split("\n");
  const own = lines.map((line) => `    ${plain(line)}\n`).join("");
  return cause === undefined ? own : `${own}  caused by\n${errorLines(cause)}`;
}
