import type { Command } from "commander";
import { UserError } from "../lib/failure.ts";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `healthcheck [url]`: checks a running instance, for containers and supervisors. */
export function registerHealthcheck(program: Command, context: CommandContext): void {
  program
    .command("healthcheck")
    .description("check whether a running instance is ready; exit 0 if so, else 1")
    .argument(
      "[url]",
      "base URL of the instance (default: the node of the data directory, else the address in the settings)",
    )
    .option("--live", "check only that the process is alive (/health instead of /ready)")
    .option("--timeout <secs>", "seconds to wait for the response, 1 to 60", "5")
    .action(
      async (url: string | undefined, { live = false, timeout }: { live?: boolean; timeout: string }) => {
        const timeoutSecs = Number(timeout);
        if (!/^\d+$/.test(timeout) || timeoutSecs < 1 || timeoutSecs > 60) {
          throw new UserError("--timeout must be an integer from 1 to 60");
        }
        const { probe, probeUrl } = await import("./probe.ts");
        const { readConfig } = await import("./common.ts");
        const { ownNodeUrl } = await import("./node-url.ts");
        const target = probeUrl(url ?? ownNodeUrl(readConfig(context, "client")), live);
        print(`${await probe(target, timeoutSecs * 1000)}\n`);
      },
    );
}
