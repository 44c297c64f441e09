import { Argument, type Command } from "commander";
import { programName, version } from "../../version.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import {
  allCommands,
  type CommandEntry,
  commandTree,
  firstSentence,
  type OptionEntry,
  quote,
  type ValueKind,
} from "./command-tree.ts";
import { examplesOf } from "./examples.ts";
import { manPage } from "./man-page.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** Registers the commands that print files for other programs: shell completions, and the manual page. */
export function registerCompletion(program: Command, _context: CommandContext): void {
  program
    .command("completion")
    .description("print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => print(SCRIPTS[shell](programName, commandTree(program))));
  program
    .command("manpage")
    .description("print the manual page, for man -l or /usr/share/man/man1")
    .option("--date <date>", "the date in its footer, as 2026-11-22 (default: today)")
    .action(({ date = new Date().toISOString().slice(0, 10) }: { date?: string }) =>
      print(manPage({ program: programName, version, date, root: commandTree(program), examplesOf })),
    );
}

/** Returns a completion script for bash 4 or newer; `complete -F` calls its function. */
export function bashCompletion(program: string, root: CommandEntry): string {
  const commands = allCommands(root);
  const known = commands.filter(({ path }) => path.length > 0).map(({ path }) => quote(` ${path.join(" ")}`));
  const shared = root.options.flatMap(({ names }) => names);
  const cases = commands.map(({ path, commands: children, options, arguments: values }) => {
    const words = [
      ...children.map((child) => child.path.at(-1) ?? ""),
      ...options.flatMap(({ names }) => names),
      ...values.flatMap(({ value }) => (value.kind === "words" ? value.words : [])),
      ...(path.length > 0 ? shared : []),
    ];
    const files = values.some(({ value }) => value.kind === "path") ? "; files=1" : "";
    const key = path.length === 0 ? '""' : quote(` ${path.join(" ")}`);
    return `    ${key}) words=${quote(words.join(" "))}${files} ;;`;
  });
  const withValue = commands.flatMap(({ options }) => options).filter(({ value }) => value.kind !== "none");
  const namesOf = (kind: string) =>
    [...new Set(withValue.filter(({ value }) => value.kind === kind).flatMap(({ names }) => names))].sort();
  const choices = withValue.flatMap(({ names, value }) => {
    if (value.kind !== "words" && value.kind !== "list") return [];
    // The last word of a list is completed, with the others before it.
    const [prefix, last] = value.kind === "list" ? ['-P "$before" ', `\${current##*,}`] : ["", "$current"];
    const words = quote(value.words.join(" "));
    return [
      `    ${names.join("|")}) mapfile -t COMPREPLY < <(compgen ${prefix}-W ${words} -- "${last}"); return ;;`,
    ];
  });
  return `# bash completion for ${program}. Load it with: source <(${program} completion bash)
_${program}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path="" words="" files="" found index
  COMPREPLY=()
  # Bash makes three words of --option=value.
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ]; then
    previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
      ${known.join("|")}) path="$path \${COMP_WORDS[index]}" ;;
    esac
  done
  local before=\${current%"\${current##*,}"}
  case $previous in
    ${namesOf("path").join("|")}) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
${[...new Set(choices)].join("\n")}
    ${namesOf("any").join("|")}) return ;;
  esac
  case $path in
${cases.join("\n")}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [ -n "$files" ] && [[ $current != -* ]]; then
    mapfile -t found < <(compgen -f -- "$current")
    COMPREPLY+=("\${found[@]}")
  fi
}
complete -o filenames -F _${program} ${program}
`;
}

/** Returns a completion script for zsh 5 or newer, for a file `_<program>` in `$fpath`. */
export function zshCompletion(program: string, root: CommandEntry): string {
  const functions = allCommands(root).map((command) => commandFunction(program, root, command));
  return `#compdef ${program}
# zsh completion for ${program}. Store it as _${program} in a folder of $fpath.
${functions.join("\n")}
if [ "$funcstack[1]" = "_${program}" ]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

const nameOf = (program: string, path: readonly string[]) =>
  [`_${program}`, ...path].join("_").replaceAll("-", "_");

function commandFunction(program: string, root: CommandEntry, command: CommandEntry): string {
  const { path, commands, options, arguments: values } = command;
  const own = [...options, ...(path.length > 0 ? root.options : [])].flatMap(optionSpecs);
  const name = nameOf(program, path);
  if (commands.length === 0) {
    const positional = values.map(({ usage, value }) => quote(`:${escapeColons(usage)}:${actionOf(value)}`));
    return `${name}() {\n  _arguments -s ${[...own, ...positional].join(" \\\n    ")}\n}\n`;
  }
  const described = commands.map((child) =>
    quote(`${child.path.at(-1)}:${escapeColons(firstSentence(child.description))}`),
  );
  const cases = commands.map((child) => `        ${child.path.at(-1)}) ${nameOf(program, child.path)} ;;`);
  return `${name}() {
  local context state state_descr line
  local -a commands=(
    ${described.join("\n    ")}
  )
  typeset -A opt_args
  # Options after the command's name are those of the command.
  _arguments -s -C -A '-*' ${own.join(" \\\n    ")} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
${cases.join("\n")}
      esac ;;
  esac
}
`;
}

const escapeColons = (text: string) => text.replaceAll(":", "\\:");

function optionSpecs({ names, value, description }: OptionEntry): string[] {
  const text = firstSentence(description).replaceAll(/[[\]]/g, "").replaceAll(":", "\\:");
  const action = value.kind === "none" ? "" : `:value:${actionOf(value)}`;
  // With the equals sign, `--name value` and `--name=value` are equivalent.
  const mark = (name: string) => (action !== "" && name.startsWith("--") ? "=" : "");
  return names.map((name) => quote(`${name}${mark(name)}[${text}]${action}`));
}

function actionOf(value: ValueKind): string {
  if (value.kind === "path") return "_files";
  if (value.kind === "words") return `(${value.words.join(" ")})`;
  if (value.kind === "list") return `_sequence compadd - ${value.words.join(" ")}`;
  return " ";
}

/** Returns a completion script for fish 3 or newer. */
export function fishCompletion(program: string, root: CommandEntry): string {
  const commands = allCommands(root);
  const groups = commands.filter(({ commands: children }) => children.length > 0);
  const lines = [
    `# fish completion for ${program}. Load it with: ${program} completion fish | source`,
    `function __${program}_path`,
    "    set -l path",
    "    for word in (commandline -opc)[2..-1]",
    '        if contains -- "$path $word" ' +
      commands
        .filter(({ path }) => path.length > 0)
        .map(({ path }) => quote(` ${path.join(" ")}`))
        .join(" "),
    '            set path "$path $word"',
    "        end",
    "    end",
    '    echo "$path"',
    "end",
    `function __${program}_at`,
    `    test (__${program}_path) = "$argv[1]"`,
    "end",
    // Offers each word appended to the existing list.
    `function __${program}_list`,
    "    set -l typed (string replace -r -- '^--[^=]*=' '' (commandline -ct))",
    "    set -l before (string match -r -- '^.*,' $typed)",
    "    for word in $argv",
    '        echo "$before$word"',
    "    end",
    "end",
    `complete -c ${program} -f`,
    ...root.options.map((option) => optionLine(program, undefined, option)),
  ];
  for (const { path, commands: children } of groups)
    for (const child of children)
      lines.push(
        `complete -c ${program} -n ${at(program, path)} -a ${child.path.at(-1)} -d ${quote(firstSentence(child.description))}`,
      );
  for (const { path, options, arguments: values } of commands.filter((command) => command.path.length > 0)) {
    for (const option of options) lines.push(optionLine(program, path, option));
    for (const { value } of values) {
      if (value.kind === "words")
        lines.push(`complete -c ${program} -n ${at(program, path)} -a ${quote(value.words.join(" "))}`);
      if (value.kind === "path") lines.push(`complete -c ${program} -n ${at(program, path)} -F`);
    }
  }
  return `${lines.join("\n")}\n`;
}

const at = (program: string, path: readonly string[]) =>
  quote(`__${program}_at "${path.map((word) => ` ${word}`).join("")}"`);

function optionLine(
  program: string,
  path: readonly string[] | undefined,
  { names, value, description }: OptionEntry,
): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const takes = { none: "", any: " -x", path: " -r -F", words: " -x", list: " -x" }[value.kind];
  const words = wordsOf(program, value);
  const condition = path === undefined ? "" : ` -n ${at(program, path)}`;
  return `complete -c ${program}${condition} ${flags.join(" ")}${takes}${words} -d ${quote(firstSentence(description))}`;
}

function wordsOf(program: string, value: ValueKind): string {
  if (value.kind === "words") return ` -a ${quote(value.words.join(" "))}`;
  return value.kind === "list" ? ` -a ${quote(`(__${program}_list ${value.words.join(" ")})`)}` : "";
}
