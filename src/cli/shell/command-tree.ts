import type { Argument, Command, Option } from "commander";
import { knownValues } from "./known-values.ts";

/** What the value of an option or argument is, as far as a shell can complete it. */
export type ValueKind =
  | { readonly kind: "none" }
  | { readonly kind: "any" }
  | { readonly kind: "path" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** Words with commas between them. */
  | { readonly kind: "list"; readonly words: readonly string[] };

export interface OptionEntry {
  /** `--key-file`, and `-c` where there is one. */
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

/** Reads the commands that the help lists; a hidden one is not there. */
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

/** All commands, a parent before its children. */
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
