import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { UserError } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import type { CommandContext } from "../context.ts";
import { printError } from "../output.ts";
import { exchange, messageOf } from "./client.ts";

/**
 * Returns the URL of a node and its operator token, from the settings or the data directory. Warns if the token can be read on the
 * network.
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

const NOT_FOUND = 404;
const issued = Type.Object({
  code: Type.String({ pattern: "^[1-9A-HJ-NP-Za-km-z]{1,64}$" }),
  expires_in: Type.Integer(),
  /** False for an empty node; the link then opens its set-up. */
  set_up: Type.Optional(Type.Boolean()),
});

/**
 * Requests a code from a node and returns the link that opens the operator's page with it. The code is in the fragment, which browsers
 * send to no host.
 *
 * @throws UserError with the status and message of a refusal, RetryableError if there is no response.
 */
export async function requestConsoleCode(
  base: URL,
  token: string,
): Promise<{ readonly link: string; readonly expiresInSecs: number }> {
  const path = base.pathname.replace(/\/+$/, "");
  const url = new URL(`${path}/console/op/code`, base);
  const { status, text } = await exchange(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  const response = parseJson(text);
  if (status === NOT_FOUND)
    throw new UserError(
      `${base.origin} has no operator's page: console.enabled or console.operator is false`,
    );
  if (status < 200 || status > 299) throw new UserError(`${status}: ${messageOf(response, text)}`);
  if (!Value.Check(issued, response)) throw new UserError(`${base.origin} is not a node with a console`);
  const page = response.set_up === false ? "setup" : "operator";
  return {
    link: `${base.origin}${path}/console/${page}#code=${response.code}`,
    expiresInSecs: response.expires_in,
  };
}
