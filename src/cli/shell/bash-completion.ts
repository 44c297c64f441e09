import { allCommands, type CommandEntry, quote } from "./command-tree.ts";

/** A completion script for bash 4 or newer; `complete -F` calls its function. */
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
    // The last word of a list is completed, after the others.
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
