import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { programName } from "../../version.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";
import { absoluteCommandOf, started } from "../shell/command-name.ts";

const CLIENTS = ["claude", "cursor", "vscode"] as const;

interface McpOptions {
  readonly url?: string;
  readonly keyFile?: string;
  readonly write?: boolean;
  readonly printConfig?: (typeof CLIENTS)[number];
}

/** `mcp`: tools for an agent on this machine, over standard input and output, served by a running node. */
export function registerMcp(program: Command, context: CommandContext): void {
  program
    .command("mcp")
    .description(
      "serve the tools of the Model Context Protocol to an agent, over standard input and output, from a running node",
    )
    .option(
      "--url <url>",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .option("--key-file <file>", "file with an API key, for a node without anonymous reads")
    .option("--write", "offer the tools that write, too; the key needs the scopes read and write")
    .addOption(
      new Option("--print-config <client>", "print the block for the settings of an agent and exit").choices(
        CLIENTS,
      ),
    )
    .action(async ({ url, keyFile, write = false, printConfig }: McpOptions) => {
      if (write && keyFile === undefined) throw new UserError("--write needs --key-file");
      const { readConfig } = await import("../common.ts");
      const { serviceNames } = await import("../../config/names.ts");
      const { isPlainOverNetwork, nodeUrl, ownNodeUrl } = await import("./node-url.ts");
      const loaded = readConfig(context, "client");
      const baseUrl = nodeUrl(url ?? ownNodeUrl(loaded));
      if (printConfig !== undefined) {
        print(`${JSON.stringify(configOf(printConfig, baseUrl, keyFile, write), null, 2)}\n`);
        return;
      }
      const { readApiKey } = await import("./key-files.ts");
      const { callOverHttp, serveMcpOverStdio } = await import("../../mcp/stdio.ts");
      const key = keyFile === undefined ? undefined : readApiKey(keyFile);
      if (key !== undefined && isPlainOverNetwork(baseUrl))
        printError(`warning: ${baseUrl.origin} is plain http: the API key is readable on the network\n`);
      const { exchange } = await import("./client.ts");
      const { config } = loaded;
      const { basePath, headerPrefix } = serviceNames(config.service.name);
      const { closed } = serveMcpOverStdio({
        name: config.service.name,
        basePath,
        origin: baseUrl.href.replace(/\/+$/, ""),
        maxResultBytes: config.mcp.max_result_bytes,
        tools: config.mcp.tools,
        call: callOverHttp(baseUrl, key, exchange),
        onFault: (error) => printError(`error: ${reasonOf(error)}\n`),
        writes: write ? await writesOfProcess(config.service.compat_prefixes[0], headerPrefix) : undefined,
      });
      await closed;
    });
}

/** A preview's token is valid as long as this process, because there is no state whose key could create it. */
async function writesOfProcess(compatPrefix: string | undefined, headerPrefix: string) {
  const { basePathOf } = await import("../../config/names.ts");
  const { createConfirmTokens } = await import("../../mcp/confirm-tokens.ts");
  const { systemClock } = await import("../../runtime/clock.ts");
  if (compatPrefix === undefined) throw new UserError("--write needs a prefix in service.compat_prefixes");
  const key = crypto.getRandomValues(new Uint8Array(32));
  return {
    compatPath: basePathOf(compatPrefix),
    hashHeader: `${headerPrefix}Message`,
    tokens: createConfirmTokens({ key: async () => key, owner: "", clock: systemClock }),
  };
}

/** Returns the block that the agent reads, which starts the program from any directory. VS Code has its own name for the list. */
function configOf(
  client: (typeof CLIENTS)[number],
  url: URL,
  keyFile: string | undefined,
  write: boolean,
): object {
  const [command, ...before] = absoluteCommandOf(started);
  const args = [
    ...before,
    "mcp",
    "--url",
    url.href,
    ...(keyFile === undefined ? [] : ["--key-file", resolve(keyFile)]),
    ...(write ? ["--write"] : []),
  ];
  const entry = { type: "stdio", command, args };
  return { [client === "vscode" ? "servers" : "mcpServers"]: { [programName]: entry } };
}
