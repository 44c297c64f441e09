import { nodeIdOf } from "../../cluster/node-id.ts";
import { findRisks } from "../../config/checks/risks.ts";
import type { Config } from "../../config/schema.ts";
import { ensureOperatorToken, OPERATOR_TOKEN_FILE } from "../../console/operator/operator-token.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo } from "../../db/index/identity.ts";
import type { Common } from "../../runtime/common.ts";
import type { DataDir } from "../../runtime/data-dir.ts";
import { ofBuiltParts } from "../optional-parts.ts";
import { withDemoKey } from "../signers/master-keys.ts";

/** Returns the settings and the log of a node, with its id. Warns of risks in the settings. */
export function commonOfNode(base: Common, dataDir: DataDir): { common: Common; nodeId: string } {
  const nodeId = nodeIdOf(base.config.node.id, dataDir);
  const config = {
    ...ofBuiltParts(base.config),
    data: { ...base.config.data, dir: dataDir.path },
    // Because the id is part of the settings, lines of every thread contain it.
    node: { id: nodeId },
  };
  const isNamed = config.state.url === "" || base.config.node.id !== "";
  const common = { ...base, config, log: isNamed ? base.log : base.log.child({ node: nodeId }) };
  for (const { key, message } of findRisks(config)) common.log.warn({ setting: key }, message);
  return { common, nodeId };
}

/** Adds the settings that depend on the index or are created at startup: a demo network's master key and the operator's token. */
export function withMadeSettings(
  common: Common,
  db: IndexDatabase,
): { common: Common; operatorToken: string | undefined } {
  const config = isDemo(db) ? withDemoKey(common.config) : common.config;
  const operatorToken = operatorTokenOf({ ...common, config });
  if (operatorToken === undefined) return { common: { ...common, config }, operatorToken };
  // Part of the settings, so that the loggers of all threads remove it.
  const console = { ...config.console, operator_token: operatorToken };
  return { common: { ...common, config: { ...config, console } }, operatorToken };
}

/**
 * Returns the secret that opens the operator's page: that of the settings, or of the data directory. A node that cannot write it starts
 * anyway, with the page locked.
 */
function operatorTokenOf({ config, log }: Pick<Common, "config" | "log">): string | undefined {
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

/** Returns the sources of settings whose values the node has completed. */
export function settingSourcesOf(
  { node, console: { operator_token: token } }: Config,
  sources: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const completed = new Map(sources);
  if (node.id === "") completed.set("node.id", "file node-id");
  if (token === "") completed.set("console.operator_token", `file ${OPERATOR_TOKEN_FILE}`);
  return completed;
}
