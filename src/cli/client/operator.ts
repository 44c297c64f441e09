import type { CommandContext } from "../context.ts";
import { printError } from "../output.ts";

/**
 * Returns the URL of a node and its operator token, of the settings or of the data directory. Warns where the token is readable on
 * the network.
 */
export async function operatorOf(
  context: CommandContext,
  url: string | undefined,
): Promise<{ readonly base: URL; readonly token: string }> {
  const { readConfig } = await import("../common.ts");
  const { isPlainOverNetwork, nodeUrl, ownNodeUrl } = await import("./node-url.ts");
  const { readOperatorToken } = await import("../../console/operator/operator-token.ts");
  const loaded = readConfig(context);
  const { config } = loaded;
  const base = nodeUrl(url ?? ownNodeUrl(loaded));
  if (isPlainOverNetwork(base))
    printError(`warning: ${base.origin} is plain http: the operator token is readable on the network\n`);
  const { operator_token: configured } = config.console;
  return { base, token: configured === "" ? readOperatorToken(config.data.dir) : configured };
}
