import type { Command } from "commander";
import { UserError } from "../lib/failure.ts";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `healthcheck [url]`: asks a running instance how it is, for container and supervisor checks. */
export function registerHealthcheck(program: Command, context: CommandContext): void {
  program
    .command("healthcheck")
    .description("ask a running instance whether it is ready; exit 0 when it is, 1 when not")
    .argument("[url]", "base URL of the instance (default: the address in the settings)")
    .option("--live", "ask only whether the process lives (/health instead of /ready)")
    .option("--timeout <secs>", "seconds to wait for the answer, 1 to 60", "5")
    .action(
      async (url: string | undefined, { live = false, timeout }: { live?: boolean; timeout: string }) => {
        const timeoutSecs = Number(timeout);
        if (!/^\d+$/.test(timeout) || timeoutSecs < 1 || timeoutSecs > 60) {
          throw new UserError("--timeout must be an integer from 1 to 60");
        }
        const { probe, probeUrl } = await import("./probe.ts");
        const { readConfig } = await import("./common.ts");
        const target = probeUrl(url ?? readConfig(context).config.http, live);
        print(`${await probe(target, timeoutSecs * 1000)}\n`);
      },
    );
}
