import { createHash } from "node:crypto";
import type { Admission } from "../admission/admission.ts";
import { parseJsonBytes } from "../lib/json.ts";
import { loadOnce } from "../lib/promises.ts";
import { createOperatorFetch } from "../net/operator-fetch.ts";
import { readUpTo } from "../net/read-up-to.ts";
import { fromHex, type Hex, toHex } from "../protocol/validate/eth.ts";

/** What a contract wallet says of a signature. `unavailable`: the RPC does not say; `busy`: too many checks run; `limited`: too many by this client. */
export type ContractVerdict = "valid" | "invalid" | "unavailable" | "busy" | "limited";

/** Asks contract wallets on Optimism. */
export interface ContractSignatures {
  /**
   * Checks a signature of a 32-byte digest by EIP-1271, ERC-6492 or an EIP-7702 delegate. Callers ask only for addresses that may
   * sign in, so that no stranger causes a call.
   *
   * @param client whose share of the calls it takes.
   */
  check(request: {
    readonly address: Uint8Array;
    readonly digest: Uint8Array;
    readonly signature: Uint8Array;
    readonly client: string;
  }): Promise<ContractVerdict>;
  /** Makes an `eth_call` without a target, such as that of a validator of signatures, under the same bounds. Returns its result. */
  call(data: Hex, client: string): Promise<Hex | "reverted" | Exclude<ContractVerdict, "valid" | "invalid">>;
}

export const MAX_SIGNATURE_BYTES = 8192;
const GAS = "0x4c4b40";
const TIMEOUT_MS = 2000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const NEGATIVE_MS = 30_000;
const MAX_NEGATIVES = 1000;
const VALID = /^0x0*1$/;
const HEX = /^0x([0-9a-fA-F]{2})*$/;

/** The code that validates a signature (ERC-6492), with arguments at its end. Most of the library is loaded with it. */
const loadValidator = loadOnce(async () => {
  const {
    decodeDeployData,
    encodeDeployData,
    erc6492SignatureValidatorAbi,
    erc6492SignatureValidatorByteCode,
  } = await import("viem");
  const validator = { abi: erc6492SignatureValidatorAbi, bytecode: erc6492SignatureValidatorByteCode as Hex };
  return {
    encode: (address: Hex, digest: Hex, signature: Hex): Hex =>
      encodeDeployData({ ...validator, args: [address, digest, signature] }),
    /** The address of a deployment; undefined for other code. */
    addressOf(data: Hex): Uint8Array | undefined {
      if (!data.startsWith(validator.bytecode)) return undefined;
      try {
        const [address] = decodeDeployData({ ...validator, data }).args as readonly unknown[];
        return fromHex(address as Hex);
      } catch {
        return undefined;
      }
    },
  };
});

/** Returns the address whose signature the call of a validator checks; undefined for other code. */
export async function addressOfValidation(data: Hex): Promise<Uint8Array | undefined> {
  return (await loadValidator()).addressOf(data);
}

/**
 * Creates the checks of contract wallets. A negative verdict is remembered for 30 seconds, a positive one never.
 *
 * @param rpcUrl the operator's RPC of Optimism.
 */
export function createContractSignatures(deps: {
  readonly rpcUrl: string;
  readonly admission: Pick<Admission, "budgets" | "buckets" | "shares">;
  readonly monotonicMs?: () => number;
}): ContractSignatures {
  const { rpcUrl, admission, monotonicMs = () => performance.now() } = deps;
  const fetchRpc = createOperatorFetch(rpcUrl);
  const negatives = new Map<string, number>();

  function isKnownNegative(id: string): boolean {
    const atMs = negatives.get(id);
    if (atMs === undefined || monotonicMs() - atMs < NEGATIVE_MS) return atMs !== undefined;
    negatives.delete(id);
    return false;
  }

  async function ask(data: Hex): Promise<Hex | "reverted" | "unavailable"> {
    const response = await fetchRpc(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "eth_call",
        params: [{ data, gas: GAS }, "latest"],
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { body: bytes, truncated } = await readUpTo(response, MAX_RESPONSE_BYTES);
    const body = truncated ? undefined : parseJsonBytes(bytes);
    if (typeof body !== "object" || body === null) return "unavailable";
    const { result, error } = body as Readonly<Record<string, unknown>>;
    if (typeof result === "string" && HEX.test(result)) return result as Hex;
    return isRevert(error) ? "reverted" : "unavailable";
  }

  const call: ContractSignatures["call"] = async (data, client) => {
    const { isAdmitted } = admission.buckets.contractChecks.take(client, 1, admission.shares.contractChecks);
    if (!isAdmitted) return "limited";
    const hold = admission.budgets.contractChecks.open(client);
    try {
      if (hold.grow(1) !== undefined) return "busy";
      return await ask(data);
    } catch {
      // A call without a response says nothing of the signature. The client may try again.
      return "unavailable";
    } finally {
      hold.end();
    }
  };

  return {
    call,
    async check({ address, digest, signature, client }) {
      const id = createHash("sha256").update(address).update(digest).update(signature).digest("base64");
      if (isKnownNegative(id)) return "invalid";
      const { encode } = await loadValidator();
      const result = await call(encode(toHex(address), toHex(digest), toHex(signature)), client);
      if (result === "limited" || result === "busy" || result === "unavailable") return result;
      if (VALID.test(result)) return "valid";
      const [oldest] = negatives.keys();
      if (negatives.size >= MAX_NEGATIVES && oldest !== undefined) negatives.delete(oldest);
      negatives.set(id, monotonicMs());
      return "invalid";
    },
  };
}

/** Nodes report a revert by code 3, or by a text with it. */
function isRevert(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { code, message } = error as Readonly<Record<string, unknown>>;
  return code === 3 || (typeof message === "string" && /revert/i.test(message));
}
