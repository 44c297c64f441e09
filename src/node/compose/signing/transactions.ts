import { type AnyElysia, Elysia } from "elysia";
import type { Admission } from "../../../admission/admission.ts";
import { pluginOf } from "../../../api/op.ts";
import { subscriptionOperations, walletOperations } from "../../../api/operations/users/balances.ts";
import type { Config } from "../../../config/schema.ts";
import { ApiError } from "../../../http/errors.ts";
import type { HttpServerOptions } from "../../../http/server.ts";
import { createEthCall } from "../../../net/eth-call.ts";
import type { Hex } from "../../../protocol/validate/eth.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { type BaseBalances, createBaseBalances } from "../../../transactions/base-balances.ts";
import { createChainValues } from "../../../transactions/chain-values.ts";
import { createTransactions, type Transactions } from "../../../transactions/prepare.ts";

/** Composes the reader of balances on Base; undefined without a Base RPC. */
export function createNodeBalances({
  config,
  admission,
}: {
  readonly config: Pick<Config, "chain">;
  readonly admission: Admission;
}): BaseBalances | undefined {
  const { base_rpc_url: rpcUrl, tokens } = config.chain;
  if (rpcUrl === "") return undefined;
  const contracts = [...new Set(tokens.map((token) => token.toLowerCase() as Hex))];
  return createBaseBalances({ ethCall: createEthCall(rpcUrl), tokens: contracts, admission });
}

const OFF = "this node reads no balances: chain.base_rpc_url is not set";

/** Mounts the paths of the hosted API outside its prefix. Without a Base RPC they return 404, with the name of the setting. */
export function balanceMounts(balances: BaseBalances | undefined): NonNullable<HttpServerOptions["mounts"]> {
  if (!balances) return [off("stp", subscriptionOperations), off("onchain", walletOperations)];
  return [
    { path: "/v2/stp", plugin: pluginOf("stp", subscriptionOperations, { balances }) },
    { path: "/v2/onchain", plugin: pluginOf("onchain", walletOperations, { balances }) },
  ];
}

function off(name: string, operations: readonly { readonly path: string }[]) {
  const plugin: AnyElysia = new Elysia({ name });
  const refuse = () => {
    throw new ApiError("notFound", OFF);
  };
  for (const { path } of operations) plugin.get(path, refuse, { detail: { hide: true } });
  return { path: `/v2/${name}`, plugin };
}

/** Composes the preparation of transactions for users' wallets. */
export function createNodeTransactions({
  config,
  clock,
  admission,
}: {
  readonly config: Pick<Config, "chain">;
  readonly clock: Clock;
  readonly admission: Admission;
}): Transactions {
  const { op_rpc_url: rpcUrl } = config.chain;
  const ethCall = rpcUrl === "" ? undefined : createEthCall(rpcUrl);
  return createTransactions({ chain: createChainValues({ ethCall, admission }), clock });
}
