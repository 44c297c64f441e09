import {
  allCommands,
  type CommandEntry,
  firstSentence,
  type OptionEntry,
  quote,
  type ValueKind,
} from "./command-tree.ts";

/** A completion script for zsh 5 or newer, for a file `_<program>` in `$fpath`. */
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
  // With the mark, `--name value` and `--name=value` are the same.
  const mark = (name: string) => (action !== "" && name.startsWith("--") ? "=" : "");
  return names.map((name) => quote(`${name}${mark(name)}[${text}]${action}`));
}

function actionOf(value: ValueKind): string {
  if (value.kind === "path") return "_files";
  if (value.kind === "words") return `(${value.words.join(" ")})`;
  if (value.kind === "list") return `_sequence compadd - ${value.words.join(" ")}`;
  return " ";
}
