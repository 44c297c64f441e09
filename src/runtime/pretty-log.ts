import { parseJson } from "../lib/json.ts";
import { printable } from "../lib/printable.ts";

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

/**
 * Formats a JSON log line for reading: time, level, subsystem, message, then the fields, then stacks. Returns other lines
 * unchanged.
 *
 * `pino-pretty` would do most of this, but it passes control and bidirectional characters of messages through to the
 * terminal, takes several times as long per line, and adds 13 packages and about 80 ms to a start.
 */
export function prettyLine(line: string, colours: boolean): string {
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

/** Escapes characters that could move the cursor, recolour the terminal or reorder the text. */
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
