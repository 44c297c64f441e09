import { decodeFunctionResult, encodeFunctionData, formatUnits, parseAbi } from "viem/utils";
import type { Admission } from "../admission/admission.ts";
import { GenerationCache } from "../lib/generation-cache.ts";
import { oneLine } from "../lib/text.ts";
import type { EthCall } from "../net/eth-call.ts";
import type { Hex } from "../protocol/validate/eth.ts";

/** Balance of an address in one token. */
export interface TokenBalance {
  /** Null for Ether. */
  readonly address: Hex | null;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  /** In the smallest unit, as a decimal number. */
  readonly units: string;
  /** In whole tokens, as a decimal number. */
  readonly amount: string;
}

/** Reads of Base through the operator's RPC. Each returns undefined if the RPC fails. */
export type BaseBalances = ReturnType<typeof createBaseBalances>;

/** Has the same address on every chain that it is deployed on. */
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
  /** Contracts in `chain.tokens`. */
  readonly tokens: readonly Hex[];
  readonly admission: Pick<Admission, "budgets">;
  readonly monotonicMs?: () => number;
}) {
  const { ethCall, tokens: contracts, admission, monotonicMs = () => performance.now() } = deps;
  const known = new Map<Hex, Token>();
  const kept = new GenerationCache<string, { readonly untilMs: number; readonly value: Promise<unknown> }>(
    MAX_KEPT,
  );

  /** Shares one request between concurrent and repeated reads. A failed read is repeated. */
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

  /** Returns the result of each view; null for one that failed. */
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

  /** Returns the tokens whose contracts report a name. */
  async function tokensOf(client: string): Promise<readonly Token[] | undefined> {
    const missing = contracts.filter((contract) => !known.has(contract));
    const names = ["name", "symbol", "decimals"] as const;
    const views = missing.flatMap((target) =>
      names.map((functionName) => ({ target, callData: encodeFunctionData({ abi: erc20, functionName }) })),
    );
    const results = views.length === 0 ? [] : await ask(views, client);
    if (!results) return undefined;
    // A contract may report any name.
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
    /** Returns the balances of Ether and of the tokens in the settings that each address has, in their order. */
    balancesOf: (
      addresses: readonly Hex[],
      client: string,
    ): Promise<readonly (readonly TokenBalance[])[] | undefined> =>
      once(`balances ${addresses}`, () => readBalances(addresses, client)),
    /** Calls `balanceOf` of a contract for each address. Null for a call that fails. At most 100 addresses. */
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

/** Reads a single word. Ignores data that a contract appends to it. */
function numberOf(data: Hex | null | undefined): bigint | null {
  return data && /^0x[0-9a-fA-F]{64}/.test(data) ? BigInt(data.slice(0, 66)) : null;
}

/** Returns undefined if the bytes are not a result of the view. */
function decoded<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
