import { type Command, InvalidArgumentError } from "commander";
import type { CommandFlag } from "../../api/command.ts";
import { typedTime } from "../../lib/iso-time.ts";
import { itemsOf } from "../../lib/text.ts";
import { collecting, parseFid, parseFids } from "../client/options.ts";

/** The fields of a request by name. */
export type Fields = Readonly<Record<string, unknown>>;

type Parse = (text: string, before: never) => unknown;

const VALUES: Readonly<
  Record<Exclude<CommandFlag["type"], "boolean">, { readonly valueName: string; readonly parse?: Parse }>
> = {
  text: { valueName: "<text>" },
  url: { valueName: "<url>" },
  whole: { valueName: "<n>", parse: parseWhole },
  texts: { valueName: "<list>", parse: collecting(itemsOf) },
  fid: { valueName: "<n>", parse: parseFid },
  fids: { valueName: "<fids>", parse: collecting(parseFids) },
  time: { valueName: "<time>", parse: parseTime },
  timeAhead: { valueName: "<time>", parse: parseTimeAhead },
};

/** Adds the flag of a field, and the one that clears it or turns it off. */
export function addFlag(command: Command, name: string, flag: CommandFlag): void {
  const { type, isRequired = false, help = "", choices, offHelp, fallback } = flag;
  const long = `--${flagName(name, flag)}`;
  if (type === "boolean") {
    command.option(long, help);
  } else {
    const { valueName, parse } = VALUES[type];
    const option = command
      .createOption(`${long} ${flag.valueName ?? (choices ? `<${name}>` : valueName)}`, help)
      .makeOptionMandatory(isRequired);
    if (fallback !== undefined) option.default(fallback);
    if (choices !== undefined) option.choices(choices);
    else if (parse !== undefined) option.argParser(parse as (text: string, before: unknown) => unknown);
    command.addOption(option);
  }
  if (offHelp !== undefined) command.option(`--no-${flagName(name, flag)}`, offHelp);
}

/** Returns the fields that the given flags set. A cleared field is null. */
export function fieldsOf(flags: Readonly<Record<string, CommandFlag>>, options: Fields): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(flags)) {
    const given = options[optionName(name, flag)];
    if (given === undefined) continue;
    const cleared = given === false && flag.type !== "boolean";
    const value = cleared ? null : (flag.value ?? given);
    if (flag.within === undefined) fields[name] = value;
    else fields[flag.within] = { ...(fields[flag.within] as object | undefined), [name]: value };
  }
  return fields;
}

/** Returns the name of a flag: `app-url` for `app_url`. */
function flagName(name: string, { flag }: CommandFlag): string {
  return flag ?? name.replaceAll("_", "-");
}

/** Returns the parser's name of a flag: `appUrl` for `--app-url`. */
function optionName(name: string, flag: CommandFlag): string {
  return flagName(name, flag).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parseWhole(text: string): number {
  const count = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw new InvalidArgumentError("It is a whole number.");
  return count;
}

/** Parses unix seconds, a time in ISO 8601 with its zone, or a time as people type it, such as `03:10` or `2 h ago`. */
export function parseTime(text: string): number {
  return readTime(text, typedTime) ?? fail('It is a time such as 2026-05-01T12:00:00Z, 03:10 or "2 h ago".');
}

/** Parses the same for a future time, such as `07:00` (the next one) or `in 2 h`. */
export function parseTimeAhead(text: string): number {
  return (
    readTime(text, (typed, nowMs) => typedTime(typed, nowMs, { ahead: true })) ??
    fail('It is a time such as 2026-12-01T07:00:00Z, 07:00, "tomorrow 07:00" or "in 2 h".')
  );
}

function readTime(
  text: string,
  typed: (text: string, nowMs: number) => number | undefined,
): number | undefined {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isWhole ? Math.floor(Date.parse(text) / 1000) : typed(text, Date.now());
  return time === undefined || Number.isNaN(time) ? undefined : time;
}

function fail(message: string): never {
  throw new InvalidArgumentError(message);
}
