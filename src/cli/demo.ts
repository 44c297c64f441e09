import { type Command, InvalidArgumentError, Option } from "commander";
import type { DemoResponse } from "../demo/push-client.ts";
import { UserError } from "../lib/failure.ts";
import { printable } from "../lib/text.ts";
import { collecting, parseFids } from "./client/options.ts";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

interface DemoKeysOptions {
  readonly fid: number;
  readonly custody?: boolean;
  readonly authAddress?: boolean;
}

/** `demo keys`: prints the keys of demo network users, for examples and experiments. */
export function registerDemo(program: Command): void {
  const demo = program.command("demo").description("inspect the demo network");
  demo
    .command("keys")
    .description(
      "print the custody, auth address and signer keys of an fid of the demo network; they are public",
    )
    .requiredOption("--fid <n>", "the fid", parseFid)
    .option("--custody", "print only the custody key, as --key-file of other commands takes it")
    .option("--auth-address", "print only the key of the auth address; fids 4, 11 and 36 have one")
    .action(async ({ fid, custody = false, authAddress = false }: DemoKeysOptions) => {
      if (custody && authAddress) throw new UserError("give --custody or --auth-address, not both");
      const { demoKeys } = await import("../demo/keys.ts");
      const keys = demoKeys(fid);
      if (!keys) throw new UserError(`the demo network has no fid ${fid}`);
      if (!custody && !authAddress) {
        print(`${JSON.stringify(keys, null, 2)}\n`);
        return;
      }
      const wallet = authAddress ? keys.authAddress : keys.custody;
      if (!wallet) throw new UserError(`fid ${fid} of the demo network has no auth address`);
      print(`${wallet.privateKey}\n`);
    });
}

function parseFid(text: string): number {
  const fid = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(fid)) throw new InvalidArgumentError("It is a positive integer.");
  return fid;
}

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
    .addOption(
      new Option("--fids <fids>", "users of the demo network, as 4,5,6")
        .argParser(collecting(parseFids))
        .default([], "none"),
    )
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
      const { nodeUrl, ownNodeUrl } = await import("./client/node-url.ts");
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
