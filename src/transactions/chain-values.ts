import type { Admission } from "../admission/admission.ts";
import type { EthCall, EthCallRequest } from "../net/eth-call.ts";

/** Values that only the chain can provide. */
export interface ChainValues {
  /** Returns the number from a view. Null without an RPC, or if it fails. Repeated calls within `PRICE_MS` cost only one. */
  price(call: EthCallRequest, client: string): Promise<bigint | null>;
  /** Like `price`, but never cached. */
  number(call: EthCallRequest, client: string): Promise<bigint | null>;
  /** Reports whether a call would revert. Null as for `price`. */
  reverts(call: EthCallRequest, client: string): Promise<boolean | null>;
}

/** Prices follow the exchange rate of the day. */
const PRICE_MS = 30_000;
const MAX_PRICES = 1000;
const WORD = /^0x[0-9a-fA-F]{64}$/;

/** Values on a node without an RPC for Optimism. */
const UNKNOWN: ChainValues = {
  price: async () => null,
  number: async () => null,
  reverts: async () => null,
};

/**
 * Asks the operator's RPC for Optimism within each client's share of calls. Checks of contract wallets use the same share.
 *
 * @param ethCall undefined without an RPC.
 */
export function createChainValues(deps: {
  readonly ethCall: EthCall | undefined;
  readonly admission: Pick<Admission, "budgets" | "buckets" | "shares">;
  readonly monotonicMs?: () => number;
}): ChainValues {
  const { ethCall, admission, monotonicMs = () => performance.now() } = deps;
  if (!ethCall) return UNKNOWN;
  const prices = new Map<string, { readonly untilMs: number; readonly value: bigint }>();

  async function ask(call: EthCallRequest, client: string) {
    const { isAdmitted } = admission.buckets.contractChecks.take(client, 1, admission.shares.contractChecks);
    if (!isAdmitted) return "unavailable";
    const hold = admission.budgets.contractChecks.open(client);
    try {
      return hold.grow(1) === undefined ? await ethCall?.(call) : "unavailable";
    } finally {
      hold.end();
    }
  }

  async function number(call: EthCallRequest, client: string): Promise<bigint | null> {
    const result = await ask(call, client);
    return result !== undefined && WORD.test(result) ? BigInt(result) : null;
  }

  return {
    number,
    async price(call, client) {
      const id = `${call.to} ${call.data}`;
      const known = prices.get(id);
      if (known && monotonicMs() < known.untilMs) return known.value;
      const value = await number(call, client);
      if (value === null) return null;
      prices.delete(id);
      const [oldest] = prices.keys();
      if (prices.size >= MAX_PRICES && oldest !== undefined) prices.delete(oldest);
      prices.set(id, { untilMs: monotonicMs() + PRICE_MS, value });
      return value;
    },
    async reverts(call, client) {
      const result = await ask(call, client);
      return result === undefined || result === "unavailable" ? null : result === "reverted";
    },
  };
}
