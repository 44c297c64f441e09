import type { Config } from "../../config/schema.ts";
import { ensureOperatorToken, OPERATOR_TOKEN_FILE } from "../../console/operator/operator-token.ts";
import type { Common } from "../../runtime/common.ts";

/**
 * Returns the secret that opens the operator's page: the setting, or that of the data directory. A node that cannot write it
 * starts nevertheless, with the page locked.
 */
export function operatorTokenOf({ config, log }: Pick<Common, "config" | "log">): string | undefined {
  const { enabled, operator, operator_token: configured } = config.console;
  if (!enabled || !operator) return undefined;
  if (configured !== "") return configured;
  try {
    return ensureOperatorToken(config.data.dir);
  } catch (err) {
    log.error({ err }, "Could not write operator.token: the operator's page stays locked");
    return undefined;
  }
}

/** The sources of settings whose values the node has completed. */
export function settingSourcesOf(
  { node, console: { operator_token: token } }: Config,
  sources: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const completed = new Map(sources);
  if (node.id === "") completed.set("node.id", "file node-id");
  if (token === "") completed.set("console.operator_token", `file ${OPERATOR_TOKEN_FILE}`);
  return completed;
}
