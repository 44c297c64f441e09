import { Argument, type Command } from "commander";
import { programName, version } from "../../version.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { bashCompletion } from "./bash-completion.ts";
import { commandTree } from "./command-tree.ts";
import { examplesOf } from "./examples.ts";
import { fishCompletion } from "./fish-completion.ts";
import { manPage } from "./man-page.ts";
import { zshCompletion } from "./zsh-completion.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** Registers the commands that print files for other programs: completions of a shell, and the manual page. */
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
