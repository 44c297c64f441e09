import { allCommands, type CommandEntry, type OptionEntry } from "./command-tree.ts";

export interface ManPage {
  readonly program: string;
  readonly version: string;
  /** `2026-11-22`. */
  readonly date: string;
  readonly root: CommandEntry;
  /** Command lines without the program's name, by command path. */
  readonly examplesOf: (path: string) => readonly string[];
}

/** Returns a page of section 1 in the macros of man(7), made from what the help shows. */
export function manPage({ program, version, date, root, examplesOf }: ManPage): string {
  const lines = [
    `.TH ${program.toUpperCase()} 1 "${date}" "${program} ${version}" "User Commands"`,
    ".SH NAME",
    `${program} \\- ${roff(root.description.replace(/\.$/, "").replace(/^./, (letter) => letter.toLowerCase()))}`,
    ".SH SYNOPSIS",
    `.B ${program}`,
    "[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
    ".SH OPTIONS",
    "These are valid before and after the command.",
    ...root.options.flatMap(optionLines),
    ".SH COMMANDS",
  ];
  for (const command of allCommands(root).slice(1)) {
    const usage = [program, ...command.path, ...command.arguments.map((argument) => argument.usage)].join(
      " ",
    );
    lines.push(
      `.SS "${roff(usage)}"`,
      roff(sentence(command.description)),
      ...command.options.flatMap(optionLines),
    );
    const examples = examplesOf(command.path.join(" "));
    if (examples.length > 0 && command.commands.length === 0)
      lines.push(".PP", "Examples:", ".nf", ...examples.map((line) => roff(`    ${program} ${line}`)), ".fi");
  }
  lines.push(
    ".SH EXIT STATUS",
    ...[
      ["0", "The command finished."],
      ["1", "The operator has to change something: a setting, a file, a permission."],
      ["75", "Another try may work: a port in use, a full disk, a locked database, a crashed thread."],
    ].flatMap(([code, text]) => [".TP", `.B ${code}`, roff(text ?? "")]),
    ".SH ENVIRONMENT",
    ".TP",
    `.B SVC_<SECTION>_<KEY>`,
    "Any setting, as SVC_HTTP_PORT for http.port; with _FILE appended, a file that holds the value.",
    ".TP",
    ".B SVC_CONFIG_FILE",
    "The TOML file, unless \\-\\-config names one.",
    ".TP",
    ".B SVC_KEY",
    "The custody key in hex for commands that sign, without \\-\\-key\\-file.",
    ".SH FILES",
    ".TP",
    `.I ./svc.toml\\fR, \\fI/etc/svc/svc.toml`,
    `Settings. \\fB${program} config defaults\\fR prints all of them.`,
    ".SH SEE ALSO",
    "The service has its own documentation under \\fI/docs\\fR.",
  );
  return `${lines.join("\n")}\n`;
}

function optionLines({ flags, description }: OptionEntry): string[] {
  return [".TP", `.B ${roff(flags)}`, roff(sentence(description))];
}

function sentence(text: string): string {
  const capital = text.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return /[.…]$/.test(capital) ? capital : `${capital}.`;
}

/** Escapes a text so that roff finds no requests or escapes in it. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replaceAll("…", "...")
    .replaceAll(/^([.'])/gm, "\\&$1");
}
