import {
  allCommands,
  type CommandEntry,
  firstSentence,
  type OptionEntry,
  quote,
  type ValueKind,
} from "./command-tree.ts";

/** A completion script for fish 3 or newer. */
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
    // Each word after what the list has already.
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
