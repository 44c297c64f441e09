import { parseJsonBytes } from "../lib/json.ts";
import { createOperatorFetch } from "./operator-fetch.ts";
import { readUpTo } from "./read-up-to.ts";

type Hex = `0x${string}`;

/** A contract call. Without `to`, the data is code that runs once. */
export interface EthCallRequest {
  readonly to?: Hex;
  readonly from?: Hex;
  readonly data: Hex;
  /** In wei. */
  readonly value?: bigint;
}

/** What a chain's RPC returned. `unavailable`: no usable response. */
export type EthCallResult = Hex | "reverted" | "unavailable";

/** Makes an `eth_call` at the latest block. Never throws. */
export type EthCall = (request: EthCallRequest) => Promise<EthCallResult>;

const GAS = "0x4c4b40";
const TIMEOUT_MS = 2000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const HEX = /^0x([0-9a-fA-F]{2})*$/;
const QUANTITY = /^0x[0-9a-fA-F]{1,16}$/;

/** @param rpcUrl the operator's RPC of a chain. */
export function createEthCall(rpcUrl: string): EthCall {
  const ask = createAsk(rpcUrl);
  return ({ value, ...call }) => {
    const amount = value === undefined ? {} : { value: `0x${value.toString(16)}` };
    return ask("eth_call", [{ ...call, ...amount, gas: GAS }, "latest"]);
  };
}

/** Reads the code at an address: `0x` for an account without code. Never throws. */
export type EthCode = (address: Hex) => Promise<Hex | "unavailable">;

/** @param rpcUrl the operator's RPC of a chain. */
export function createEthCode(rpcUrl: string): EthCode {
  const ask = createAsk(rpcUrl);
  return async (address) => {
    const code = await ask("eth_getCode", [address, "latest"]);
    return code === "reverted" ? "unavailable" : code;
  };
}

/** Reads the number of the latest block; undefined if the RPC does not return it. Never throws. */
export type EthBlockNumber = () => Promise<number | undefined>;

/** @param rpcUrl the operator's RPC of a chain. */
export function createEthBlockNumber(rpcUrl: string): EthBlockNumber {
  const ask = createAsk(rpcUrl, QUANTITY);
  return async () => {
    const number = Number(await ask("eth_blockNumber", []));
    return Number.isSafeInteger(number) ? number : undefined;
  };
}

/** @param form the format of a result. */
function createAsk(
  rpcUrl: string,
  form = HEX,
): (method: string, params: readonly unknown[]) => Promise<EthCallResult> {
  const fetchRpc = createOperatorFetch(rpcUrl);
  return async (method, params) => {
    try {
      const response = await fetchRpc(rpcUrl, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { body: bytes, truncated } = await readUpTo(response, MAX_RESPONSE_BYTES);
      const body = truncated ? undefined : parseJsonBytes(bytes);
      if (typeof body !== "object" || body === null) return "unavailable";
      const { result, error } = body as Readonly<Record<string, unknown>>;
      if (typeof result === "string" && form.test(result)) return result as Hex;
      return isRevert(error) ? "reverted" : "unavailable";
    } catch {
      // A call without a response proves nothing. The client may try again.
      return "unavailable";
    }
  };
}

/** Nodes report a revert by code 3, or by a message that mentions it. */
function isRevert(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, message } = error as Readonly<Record<string, unknown>>;
  return code === 3 || (typeof message === "string" && /revert/i.test(message));
}
