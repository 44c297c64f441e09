import { type Command, Option } from "commander";
import { UserError } from "../../lib/failure.ts";
import { programName } from "../../version.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";

const CLIENTS = ["claude", "cursor", "vscode"] as const;

interface McpOptions {
  readonly url?: string;
  readonly keyFile?: string;
  readonly printConfig?: (typeof CLIENTS)[number];
}

/** `mcp`: tools for an agent on this machine, over standard input and output, from a running node. */
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
    .addOption(
      new Option("--print-config <client>", "print the block for the settings of an agent and exit").choices(
        CLIENTS,
      ),
    )
    .action(async ({ url, keyFile, printConfig }: McpOptions) => {
      const { readConfig } = await import("../common.ts");
      const { serviceNames } = await import("../../config/names.ts");
      const { isPlainOverNetwork, nodeUrl, ownNodeUrl } = await import("./node-url.ts");
      const loaded = readConfig(context, "client");
      const baseUrl = nodeUrl(url ?? ownNodeUrl(loaded));
      if (printConfig !== undefined) {
        print(`${JSON.stringify(configOf(printConfig, baseUrl, keyFile), null, 2)}\n`);
        return;
      }
      const { callOverHttp, serveMcpOverStdio } = await import("../../mcp/stdio.ts");
      const key = keyFile === undefined ? undefined : await readKey(keyFile);
      if (key !== undefined && isPlainOverNetwork(baseUrl))
        printError(`warning: ${baseUrl.origin} is plain http: the API key is readable on the network\n`);
      const { exchange } = await import("./client.ts");
      const { config } = loaded;
      const { closed } = serveMcpOverStdio({
        name: config.service.name,
        basePath: serviceNames(config.service.name).basePath,
        origin: baseUrl.href.replace(/\/+$/, ""),
        maxResultBytes: config.mcp.max_result_bytes,
        tools: config.mcp.tools,
        call: callOverHttp(baseUrl, (to, signal) =>
          exchange(to, { signal, headers: key === undefined ? {} : { "x-api-key": key } }),
        ),
      });
      await closed;
    });
}

async function readKey(file: string): Promise<string> {
  const { readSmallFile } = await import("../../config/files/small-file.ts");
  const { reasonOf } = await import("../../lib/failure.ts");
  let text: string | undefined;
  try {
    text = readSmallFile(file)?.trim();
  } catch (cause) {
    throw new UserError(`key file ${file} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  if (!/^[\x21-\x7e]{1,256}$/.test(text ?? "")) throw new UserError(`key file ${file} must hold an API key`);
  return text ?? "";
}

/** The block that the agent reads: VS Code has a name of its own for the list. */
function configOf(client: (typeof CLIENTS)[number], url: URL, keyFile: string | undefined): object {
  const args = ["mcp", "--url", url.href, ...(keyFile === undefined ? [] : ["--key-file", keyFile])];
  const entry = { type: "stdio", command: programName, args };
  return { [client === "vscode" ? "servers" : "mcpServers"]: { [programName]: entry } };
}
