import { decodeFunctionResult, encodeFunctionData, formatUnits, parseAbi } from "viem/utils";
import type { Admission } from "../admission/admission.ts";
import { GenerationCache } from "../lib/generation-cache.ts";
import { oneLine } from "../lib/text.ts";
import type { EthCall } from "../net/eth-call.ts";
import type { Hex } from "../protocol/validate/eth.ts";

/** What an address holds of one token. */
export interface TokenBalance {
  /** Null for Ether. */
  readonly address: Hex | null;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  /** In the smallest unit, decimal. */
  readonly units: string;
  /** A decimal number of whole tokens. */
  readonly amount: string;
}

/** Views of Base, by the operator's RPC. Each is undefined while the RPC does not say. */
export type BaseBalances = ReturnType<typeof createBaseBalances>;

/** The same address on every chain that has it. */
const MULTICALL: Hex = "0xca11bde05977b3631167028862be2a173976ca11";
const CALLS_AT_ONCE = 100;
const KEPT_MS = 30_000;
const MAX_KEPT = 2_000;
const MAX_NAME_CHARS = 64;
const MAX_DECIMALS = 36;
const ETHER = { address: null, name: "Ethereum", symbol: "ETH", decimals: 18 } as const;

const multicall = parseAbi([
  "struct Call { address target; bool allowFailure; bytes callData; }",
  "struct Outcome { bool success; bytes returnData; }",
  "function aggregate3(Call[] calls) view returns (Outcome[])",
  "function getEthBalance(address holder) view returns (uint256)",
]);
const erc20 = parseAbi([
  "function balanceOf(address holder) view returns (uint256)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
]);

interface View {
  readonly target: Hex;
  readonly callData: Hex;
}

type Token = Omit<TokenBalance, "units" | "amount" | "address"> & { readonly address: Hex };

export function createBaseBalances(deps: {
  readonly ethCall: EthCall;
  /** Contracts of `chain.tokens`. */
  readonly tokens: readonly Hex[];
  readonly admission: Pick<Admission, "budgets">;
  readonly monotonicMs?: () => number;
}) {
  const { ethCall, tokens: contracts, admission, monotonicMs = () => performance.now() } = deps;
  const known = new Map<Hex, Token>();
  const kept = new GenerationCache<string, { readonly untilMs: number; readonly value: Promise<unknown> }>(
    MAX_KEPT,
  );

  /** Asks once for concurrent and for repeated reads. What failed is asked again. */
  function once<T>(id: string, ask: () => Promise<T | undefined>): Promise<T | undefined> {
    const found = kept.get(id);
    if (found && monotonicMs() < found.untilMs) return found.value as Promise<T | undefined>;
    const value = ask();
    kept.set(id, { untilMs: monotonicMs() + KEPT_MS, value });
    void value.then((result) => {
      if (result === undefined && kept.get(id)?.value === value) kept.set(id, { untilMs: 0, value });
    });
    return value;
  }

  /** The result of each view; null where it failed. */
  async function ask(views: readonly View[], client: string): Promise<readonly (Hex | null)[] | undefined> {
    const results: (Hex | null)[] = [];
    const hold = admission.budgets.contractChecks.open(client);
    try {
      if (hold.grow(1) !== undefined) return undefined;
      for (let at = 0; at < views.length; at += CALLS_AT_ONCE) {
        const calls = views.slice(at, at + CALLS_AT_ONCE).map((view) => ({ ...view, allowFailure: true }));
        const data = encodeFunctionData({ abi: multicall, functionName: "aggregate3", args: [calls] });
        const result = await ethCall({ to: MULTICALL, data });
        if (result === "reverted" || result === "unavailable") return undefined;
        const outcomes = decoded(() =>
          decodeFunctionResult({ abi: multicall, functionName: "aggregate3", data: result }),
        );
        if (outcomes?.length !== calls.length) return undefined;
        for (const { success, returnData } of outcomes) results.push(success ? returnData : null);
      }
      return results;
    } finally {
      hold.end();
    }
  }

  /** The tokens whose contracts say what they are called. */
  async function tokensOf(client: string): Promise<readonly Token[] | undefined> {
    const missing = contracts.filter((contract) => !known.has(contract));
    const names = ["name", "symbol", "decimals"] as const;
    const views = missing.flatMap((target) =>
      names.map((functionName) => ({ target, callData: encodeFunctionData({ abi: erc20, functionName }) })),
    );
    const results = views.length === 0 ? [] : await ask(views, client);
    if (!results) return undefined;
    // A contract names itself as it likes.
    for (const [at, address] of missing.entries()) {
      const [name, symbol, decimals] = names.map((functionName, part) => {
        const data = results[names.length * at + part];
        return data ? decoded(() => decodeFunctionResult({ abi: erc20, functionName, data })) : undefined;
      });
      if (typeof name !== "string" || typeof symbol !== "string" || typeof decimals !== "number") continue;
      if (decimals <= MAX_DECIMALS)
        known.set(address, {
          address,
          name: oneLine(name, MAX_NAME_CHARS),
          symbol: oneLine(symbol, MAX_NAME_CHARS),
          decimals,
        });
    }
    return contracts.flatMap((contract) => known.get(contract) ?? []);
  }

  const holderView = (target: Hex, holder: Hex): View => ({
    target,
    callData: encodeFunctionData({ abi: erc20, functionName: "balanceOf", args: [holder] }),
  });

  async function readBalances(addresses: readonly Hex[], client: string) {
    const tokens = await tokensOf(client);
    if (!tokens) return undefined;
    const etherOf = (holder: Hex): View => ({
      target: MULTICALL,
      callData: encodeFunctionData({ abi: multicall, functionName: "getEthBalance", args: [holder] }),
    });
    const views = addresses.flatMap((holder) => [
      etherOf(holder),
      ...tokens.map(({ address }) => holderView(address, holder)),
    ]);
    const results = views.length === 0 ? [] : await ask(views, client);
    if (!results) return undefined;
    const shown = [ETHER, ...tokens];
    return addresses.map((_, holder) =>
      shown.flatMap((token, at) => {
        const amount = numberOf(results[holder * shown.length + at]);
        return amount === null
          ? []
          : [{ ...token, units: `${amount}`, amount: formatUnits(amount, token.decimals) }];
      }),
    );
  }

  return {
    /** Ether and the tokens of the settings that each address holds, in their order. */
    balancesOf: (
      addresses: readonly Hex[],
      client: string,
    ): Promise<readonly (readonly TokenBalance[])[] | undefined> =>
      once(`balances ${addresses}`, () => readBalances(addresses, client)),
    /** `balanceOf` of a contract for each address; null where the call fails. At most 100 addresses. */
    holdings: (
      contract: Hex,
      addresses: readonly Hex[],
      client: string,
    ): Promise<readonly (bigint | null)[] | undefined> =>
      once(`holdings ${contract} ${addresses}`, async () => {
        const views = addresses.map((holder) => holderView(contract, holder));
        return (await ask(views, client))?.map(numberOf);
      }),
  };
}

/** A word; what a contract appends to it does not count. */
function numberOf(data: Hex | null | undefined): bigint | null {
  return data && /^0x[0-9a-fA-F]{64}/.test(data) ? BigInt(data.slice(0, 66)) : null;
}

/** Undefined for bytes that are not the result of the view. */
function decoded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
