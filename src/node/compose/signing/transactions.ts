import type { Admission } from "../../../admission/admission.ts";
import type { Config } from "../../../config/schema.ts";
import { createEthCall } from "../../../net/eth-call.ts";
import type { Clock } from "../../../runtime/clock.ts";
import { createChainValues } from "../../../transactions/chain-values.ts";
import { createTransactions, type Transactions } from "../../../transactions/prepare.ts";

/** Composes what prepares transactions for users' wallets. */
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
