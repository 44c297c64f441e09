import { createHash } from "node:crypto";
import type { Admission } from "../admission/admission.ts";
import { CONTRACT_REFUSALS } from "../admission/budgets.ts";
import { loadOnce } from "../lib/promises.ts";
import { createEthCall, createEthCode } from "../net/eth-call.ts";
import { fromHex, type Hex, toHex } from "../protocol/validate/eth.ts";

/**
 * Verdict of a contract wallet on a signature. `unavailable`: the RPC failed; `busy`: too many checks are running; `limited`: this client
 * has made too many.
 */
export type ContractVerdict = "valid" | "invalid" | "unavailable" | "busy" | "limited";

/** The call data of a validator, and what it validates. */
export interface Validation {
  readonly data: Hex;
  readonly address: Uint8Array;
  readonly signature: Uint8Array;
}

/** Asks contract wallets on Optimism about signatures. */
export interface ContractSignatures {
  /**
   * Checks a signature of a 32-byte digest by EIP-1271, ERC-6492 or an EIP-7702 delegate. Callers ask only about addresses that own an fid
   * or sign in for one. These addresses are public, so anyone can name them. The chain is therefore asked at most once a day whether an
   * address has code, and runs the validator only if it has, or if the signature describes how to deploy the wallet (ERC-6492).
   *
   * Calls that confirm nothing are limited per address and in total, whichever clients cause them. The limits do not apply to a client
   * whose signature the address has accepted within the last day, so that strangers cannot lock an owner out.
   *
   * @param client the client whose share of the calls is used.
   */
  check(request: {
    readonly address: Uint8Array;
    readonly digest: Uint8Array;
    readonly signature: Uint8Array;
    readonly client: string;
  }): Promise<ContractVerdict>;
  /** Runs a signature validator under the same limits. Returns its result; `reverted` also for an address without code. */
  validate(
    validation: Validation,
    client: string,
  ): Promise<Hex | "reverted" | Exclude<ContractVerdict, "valid" | "invalid">>;
}

export const MAX_SIGNATURE_BYTES = 8192;
const NEGATIVE_MS = 30_000;
const MAX_NEGATIVES = 1000;
const DAY_MS = 86_400_000;
const MAX_CODES = 10_000;
const MAX_PROVEN = 10_000;
/** Suffix of an ERC-6492 signature. */
const ERC_6492 = Buffer.from("6492".repeat(16), "hex");
const VALID = /^0x0*1$/;

/**
 * Deployment code that validates a signature (ERC-6492); its arguments follow it. Loaded on demand because it pulls in most of the
 * library.
 */
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
    /** Returns what deployment code validates; undefined for any other code. */
    read(data: Hex): Validation | undefined {
      if (!data.startsWith(validator.bytecode)) return undefined;
      try {
        const [address, , signature] = decodeDeployData({ ...validator, data }).args as readonly Hex[];
        return { data, address: fromHex(address as Hex), signature: fromHex(signature as Hex) };
      } catch {
        return undefined;
      }
    },
  };
});

/** Parses the call data of a validator. Undefined for any other code. */
export async function readValidation(data: Hex): Promise<Validation | undefined> {
  return (await loadValidator()).read(data);
}

/**
 * Creates the checks of contract wallets. A negative verdict is cached for 30 seconds, a positive one never.
 *
 * @param rpcUrl the operator's RPC for Optimism.
 */
export function createContractSignatures(deps: {
  readonly rpcUrl: string;
  readonly admission: Pick<Admission, "budgets" | "buckets" | "shares">;
  readonly monotonicMs?: () => number;
}): ContractSignatures {
  const { rpcUrl, admission, monotonicMs = () => performance.now() } = deps;
  const ethCall = createEthCall(rpcUrl);
  const ethCode = createEthCode(rpcUrl);
  const negatives = new Map<string, number>();
  /** Whether each address has code, and when that was read. */
  const codes = new Map<Hex, { readonly hasCode: boolean; readonly atMs: number }>();

  /** Pairs of a client and an address that has accepted its signature. */
  const proven = new Map<string, number>();
  const { buckets, budgets, shares } = admission;
  const refusalsOf = (address: string) =>
    [
      [address, CONTRACT_REFUSALS.ofAddress],
      ["all", CONTRACT_REFUSALS.ofAll],
    ] as const;
  const pairOf = (client: string, address: string) => `${client} ${address}`;

  function isKnown(memory: Map<string, number>, id: string, maxAgeMs: number): boolean {
    const atMs = memory.get(id);
    if (atMs === undefined || monotonicMs() - atMs < maxAgeMs) return atMs !== undefined;
    memory.delete(id);
    return false;
  }

  /** Asks the RPC about an address, within the share of the client and the limits on calls that confirm nothing. */
  async function bounded<T>(
    client: string,
    address: string,
    { ask, confirms }: { readonly ask: () => Promise<T>; readonly confirms: (result: T) => boolean },
  ): Promise<T | "limited" | "busy"> {
    if (!buckets.contractChecks.take(client, 1, shares.contractChecks).isAdmitted) return "limited";
    const counted = isKnown(proven, pairOf(client, address), DAY_MS) ? [] : refusalsOf(address);
    if (!counted.every(([name, limit]) => buckets.contractRefusals.take(name, 1, limit).isAdmitted))
      return "limited";
    const giveBack = () => {
      for (const [name, limit] of counted) buckets.contractRefusals.charge(name, -1, limit);
    };
    const hold = budgets.contractChecks.open(client);
    try {
      if (hold.grow(1) !== undefined) {
        giveBack();
        return "busy";
      }
      const result = await ask();
      if (confirms(result)) giveBack();
      return result;
    } finally {
      hold.end();
    }
  }

  async function hasCode(
    address: Hex,
    client: string,
  ): Promise<boolean | "limited" | "busy" | "unavailable"> {
    const known = codes.get(address);
    if (known && monotonicMs() - known.atMs < DAY_MS) return known.hasCode;
    const code = await bounded(client, address, { ask: () => ethCode(address), confirms: () => false });
    if (code === "limited" || code === "busy" || code === "unavailable") return code;
    keepNewest(codes, address, { hasCode: code !== "0x", atMs: monotonicMs() }, MAX_CODES);
    return code !== "0x";
  }

  /** @param isSignIn whether the digest is from a sign-in at this node, so that its signature cannot be a replay of an older one. */
  async function run({ data, address, signature }: Validation, client: string, isSignIn: boolean) {
    const isWrapped = Buffer.compare(signature.subarray(-ERC_6492.length), ERC_6492) === 0;
    const isContract = isWrapped || (await hasCode(toHex(address), client));
    if (typeof isContract === "string") return isContract;
    const confirms = (result: string) => isSignIn && VALID.test(result);
    return isContract
      ? bounded(client, toHex(address), { ask: () => ethCall({ data }), confirms })
      : "reverted";
  }

  return {
    validate: (validation, client) => run(validation, client, false),
    async check({ address, digest, signature, client }) {
      const id = createHash("sha256").update(address).update(digest).update(signature).digest("base64");
      if (isKnown(negatives, id, NEGATIVE_MS)) return "invalid";
      const { encode } = await loadValidator();
      const data = encode(toHex(address), toHex(digest), toHex(signature));
      const result = await run({ data, address, signature }, client, true);
      if (result === "limited" || result === "busy" || result === "unavailable") return result;
      const isValid = VALID.test(result);
      // The wallet may be deployed by now, and its next signature would then use EIP-1271.
      if (isValid && codes.get(toHex(address))?.hasCode === false) codes.delete(toHex(address));
      if (isValid) keepNewest(proven, pairOf(client, toHex(address)), monotonicMs(), MAX_PROVEN);
      else keepNewest(negatives, id, monotonicMs(), MAX_NEGATIVES);
      return isValid ? "valid" : "invalid";
    },
  };
}

/** Sets an entry as the newest, and drops the oldest beyond `max` entries. */
function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
