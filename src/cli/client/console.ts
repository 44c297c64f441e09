import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";

/** `console [url]`: prints the link that opens the operator's page of a running node. */
export function registerConsole(program: Command, context: CommandContext): void {
  program
    .command("console")
    .description("print a link, valid once and for a minute, that opens the operator's page in a browser")
    .argument(
      "[url]",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .action(async (url: string | undefined) => {
      const { operatorOf, requestConsoleCode } = await import("./operator.ts");
      const { base, token } = await operatorOf(context, url);
      const { link, expiresInSecs } = await requestConsoleCode(base, token);
      print(`${link}\n`);
      printError(`The link opens the page once, within ${expiresInSecs} seconds.\n`);
    });
}
