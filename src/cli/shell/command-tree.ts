import type { Argument, Command, Option } from "commander";
import { CHANNEL_EVENT_KINDS } from "../../protocol/event-kind.ts";

/** What a shell completes for an option whose value the program parses itself. */
interface KnownValues {
  readonly words: readonly string[];
  /** Whether the value is a comma-separated list. */
  readonly isList: boolean;
}

const one = (...words: string[]): KnownValues => ({ words, isList: false });
const list = (...words: string[]): KnownValues => ({ words, isList: true });

/** By the option's long name, whose values are the same in every command. Tests compare them with the schemas that validate them. */
const KNOWN_VALUES: Readonly<Record<string, KnownValues>> = {
  "--log-level": one("trace", "debug", "info", "warn", "error", "fatal", "silent"),
  "--log-format": one("json", "pretty"),
  "--on": list(
    "cast.created",
    "cast.deleted",
    "follow.created",
    "follow.deleted",
    "reaction.created",
    "reaction.deleted",
    "user.created",
    "user.updated",
    ...CHANNEL_EVENT_KINDS,
  ),
  "--scopes": list("read", "write", "signers", "webhooks", "apps", "push", "moderate"),
};

/** Returns the values of an option by its long name. */
export function knownValues(option: string | undefined): KnownValues | undefined {
  return option !== undefined && Object.hasOwn(KNOWN_VALUES, option) ? KNOWN_VALUES[option] : undefined;
}

/** The kind of an option's or argument's value, as far as a shell can complete it. */
export type ValueKind =
  | { readonly kind: "none" }
  | { readonly kind: "any" }
  | { readonly kind: "path" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** Comma-separated words. */
  | { readonly kind: "list"; readonly words: readonly string[] };

export interface OptionEntry {
  /** `--key-file`, and `-c` if there is one. */
  readonly names: readonly string[];
  /** As in the help: `-c, --config <file>`. */
  readonly flags: string;
  readonly description: string;
  readonly value: ValueKind;
}

export interface ArgumentEntry {
  /** As in the help: `<app_id>`, `[file]`. */
  readonly usage: string;
  readonly value: ValueKind;
}

/** A command of the program with everything that its help shows. */
export interface CommandEntry {
  /** Words after the program's name; empty for the program itself. */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly OptionEntry[];
  readonly arguments: readonly ArgumentEntry[];
  readonly commands: readonly CommandEntry[];
}

const PATHS = /<(file|dir|directory|path)>|\[(file|dir|directory|path)\]/i;

/** Reads the commands that the help lists; hidden ones are left out. */
export function commandTree(program: Command): CommandEntry {
  const help = program.createHelp();
  const read = (command: Command, path: readonly string[]): CommandEntry => ({
    path,
    description: command.description(),
    options: help.visibleOptions(command).map(optionEntry),
    arguments: command.registeredArguments.map(argumentEntry),
    commands: help
      .visibleCommands(command)
      .filter((child) => child.name() !== "help")
      .map((child) => read(child, [...path, child.name()])),
  });
  return read(program, []);
}

/** Returns all commands, parents before their children. */
export function allCommands(root: CommandEntry): CommandEntry[] {
  return [root, ...root.commands.flatMap(allCommands)];
}

function optionEntry({
  flags,
  short,
  long,
  description,
  required,
  optional,
  argChoices,
}: Option): OptionEntry {
  const takesValue = required || optional;
  return {
    names: [long, short].filter((name) => name !== undefined),
    flags,
    description,
    value: takesValue ? optionValue(long, flags, argChoices) : { kind: "none" },
  };
}

function optionValue(
  long: string | undefined,
  flags: string,
  choices: readonly string[] | undefined,
): ValueKind {
  const known = knownValues(long);
  if (known !== undefined) return { kind: known.isList ? "list" : "words", words: known.words };
  return valueKind(flags, choices);
}

function argumentEntry(argument: Argument): ArgumentEntry {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  const usage = argument.required ? `<${name}>` : `[${name}]`;
  return { usage, value: valueKind(usage, argument.argChoices) };
}

function valueKind(usage: string, choices: readonly string[] | undefined): ValueKind {
  if (choices) return { kind: "words", words: choices };
  return PATHS.test(usage) ? { kind: "path" } : { kind: "any" };
}

/** Quotes a text as a literal word of bash, zsh and fish. The texts here contain no backslashes. */
export const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the first sentence of a description without its full stop, which fits next to a word. */
export function firstSentence(description: string): string {
  const [sentence = ""] = description.split(/(?<=\.)\s|[;:]\s|\s\(default/);
  return sentence.replace(/\.$/, "").replaceAll(/\s+/g, " ");
}
