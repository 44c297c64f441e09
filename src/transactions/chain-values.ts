import type { Admission } from "../admission/admission.ts";
import type { EthCall, EthCallRequest } from "../net/eth-call.ts";

/** Values that only the chain has. */
export interface ChainValues {
  /** Returns a view's number; null without an RPC, or when it does not say. The same call costs one within `PRICE_MS`. */
  price(call: EthCallRequest, client: string): Promise<bigint | null>;
  /** As `price`, but always asked for. */
  number(call: EthCallRequest, client: string): Promise<bigint | null>;
  /** Whether a call would revert; null as above. */
  reverts(call: EthCallRequest, client: string): Promise<boolean | null>;
}

/** A price changes by the exchange rate of a day. */
const PRICE_MS = 30_000;
const MAX_PRICES = 1000;
const WORD = /^0x[0-9a-fA-F]{64}$/;

/** A node without an RPC of Optimism. */
const UNKNOWN: ChainValues = {
  price: async () => null,
  number: async () => null,
  reverts: async () => null,
};

/**
 * Asks the operator's RPC of Optimism within each client's share of its calls, which checks of contract wallets take from too.
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
