import { commandSpellings } from "../../../../client/src/commands.generated.ts";
import type { Route } from "./call.ts";
import { shellQuote } from "./snippets.ts";

/**
 * How a field is spelled as a flag: by another name, by a name per value, or not at all. By default the flag is its name with hyphens,
 * `--no-` clears it, lists are separated by commas, and an object is read from standard input.
 */
type Flag = string | false | Readonly<Record<string, string>>;

const COMMANDS: { readonly [R in Route]?: readonly [usage: string, flags?: Readonly<Record<string, Flag>>] } =
  commandSpellings;

export const operationsWithCommand = Object.keys(COMMANDS) as readonly Route[];

/** Objects whose members have separate flags. */
const WITHIN: ReadonlySet<string> = new Set(["notification", "filter", "quiet_hours", "hook"]);

const SAFE_WORD = /^[\w.:-]+$/;
const word = (value: unknown) => (SAFE_WORD.test(String(value)) ? String(value) : shellQuote(String(value)));

function flagOf(flag: string, value: unknown): string {
  if (value === null || value === false) return `--no-${flag}`;
  if (value === true) return `--${flag}`;
  if (typeof value === "object" && !Array.isArray(value)) return `--${flag} -`;
  // A value that looks like a flag must be part of the word, or the program would take it for one.
  const text = word(Array.isArray(value) ? value.join(",") : value);
  return text.startsWith("-") || text.startsWith("'-") ? `--${flag}=${text}` : `--${flag} ${text}`;
}

/**
 * Returns the arguments of the `svc` command for an operation, and what it reads as JSON from standard input. Undefined for an operation
 * without a command. `fields` are those of query and body.
 */
export function commandOf(
  route: Route,
  fields: Readonly<Record<string, unknown>>,
): { readonly cli?: string; readonly cliInput?: unknown } {
  const command = COMMANDS[route];
  if (!command) return {};
  const [usage, flags = {}] = command;
  const given = new Map(
    Object.entries(fields)
      .flatMap(([name, value]) =>
        WITHIN.has(name) && typeof value === "object"
          ? Object.entries(value as object)
          : [[name, value] as const],
      )
      .filter(([, value]) => value !== undefined),
  );
  const words = usage.split(" ").flatMap((part) => {
    const name = /^[<[](\w+)[>\]]$/.exec(part)?.[1];
    if (name === undefined) return [part];
    const value = given.get(name);
    given.delete(name);
    return value === undefined ? [] : [word(value)];
  });
  let cliInput: unknown;
  for (const [name, value] of given) {
    const spelled = flags[name] ?? name.replaceAll("_", "-");
    if (spelled === false) continue;
    if (typeof spelled === "object") words.push(`--${spelled[String(value)]}`);
    else words.push(flagOf(spelled, value));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) cliInput = value;
  }
  return { cli: words.join(" "), ...(cliInput !== undefined && { cliInput }) };
}
