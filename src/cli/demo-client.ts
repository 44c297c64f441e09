import { type Command, Option } from "commander";
import type { DemoResponse } from "../demo/push-client.ts";
import { UserError } from "../lib/failure.ts";
import { printable } from "../lib/printable.ts";
import type { CommandContext } from "./context.ts";
import { collecting, parseFids } from "./management-options.ts";
import { print } from "./output.ts";

interface DemoClientOptions {
  readonly clientPort: string;
  readonly appId?: string;
  readonly fids: readonly number[];
  readonly url?: string;
  readonly answer: DemoResponse;
}

/** `demo-client`: a client app that receives notifications and prints them. */
export function registerDemoClient(program: Command, context: CommandContext): void {
  program
    .command("demo-client")
    .description("receive notifications as a client app of the demo network, and print them")
    .option("--client-port <port>", "port on 127.0.0.1 for notifications; 0 for any", "9100")
    .option("--app-id <id>", "add this mini app for the users of --fids first")
    .option("--fids <fids>", "users of the demo network, as 4,5,6", collecting(parseFids), [])
    .option(
      "--url <url>",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .addOption(
      new Option("--answer <kind>", "the response to every notification")
        .choices(["success", "rate-limited", "invalid", "unavailable"])
        .default("success"),
    )
    .action(async ({ clientPort, appId, fids, url, answer }: DemoClientOptions) => {
      const { createCommon, readConfig, runService } = await import("./common.ts");
      const { nodeUrl, ownNodeUrl } = await import("./node-url.ts");
      const { serviceNames } = await import("../config/names.ts");
      const { startDemoPushClient } = await import("../demo/push-client.ts");
      const { createOperatorFetch } = await import("../net/operator-fetch.ts");
      const port = /^\d{1,5}$/.test(clientPort) ? Number(clientPort) : Number.NaN;
      if (!(port <= 65_535)) throw new UserError("--client-port must be an integer from 0 to 65535");
      if ((appId === undefined) !== (fids.length === 0))
        throw new UserError("give --app-id and --fids together");
      const loaded = readConfig(context, "client");
      const common = createCommon(context, { loaded });
      context.exitCode = await runService(common, async () => {
        const client = startDemoPushClient({
          port,
          response: answer,
          show: ({ fid, title, body, targetUrl }) =>
            print(`fid ${fid}: ${[title, body, targetUrl].map(printable).join(" | ")}\n`),
        });
        common.shutdown.add("demo client", () => client.stop());
        print(`Receives notifications at ${client.url}\n`);
        if (appId === undefined) return;
        const node = nodeUrl(url ?? ownNodeUrl(loaded));
        const { basePath } = serviceNames(common.config.service.name);
        const path = `${node.pathname.replace(/\/$/, "")}${basePath}/frame/webhook/${encodeURIComponent(appId)}`;
        const call = createOperatorFetch(node.origin);
        for (const fid of fids) {
          await client.addApp(fid, new URL(path, node), call);
          print(`Added the mini app for fid ${fid}\n`);
        }
      });
    });
}
