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
      const { readConfig } = await import("../common.ts");
      const { isPlainOverNetwork, nodeUrl, ownNodeUrl } = await import("./node-url.ts");
      const { requestConsoleCode } = await import("./console-code.ts");
      const { readOperatorToken } = await import("../../console/operator/operator-token.ts");
      const loaded = readConfig(context);
      const { config } = loaded;
      const base = nodeUrl(url ?? ownNodeUrl(loaded));
      if (isPlainOverNetwork(base))
        printError(`warning: ${base.origin} is plain http: the operator token is readable on the network\n`);
      const { operator_token: configured } = config.console;
      const token = configured === "" ? readOperatorToken(config.data.dir) : configured;
      const { link, expiresInSecs } = await requestConsoleCode(base, token);
      print(`${link}\n`);
      printError(`The link opens the page once, within ${expiresInSecs} seconds.\n`);
    });
}
