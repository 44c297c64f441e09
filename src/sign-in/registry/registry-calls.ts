import { decodeFunctionData, encodeFunctionResult, parseAbi, toFunctionSelector } from "viem/utils";
import { type Owners, UnconfirmedError } from "../../auth/owners/owners.ts";
import { err, mapOk, ok, type Result } from "../../lib/result.ts";
import { fromHex, type Hex, recoverAddress, toHex } from "../../protocol/validate/eth.ts";
import { ID_REGISTRY, KEY_REGISTRY } from "../../transactions/contracts.ts";
import type { People } from "../people.ts";
import { KEY_STATES, type RegistryFacts } from "./registry-facts.ts";

const idRegistry = parseAbi([
  "function idOf(address owner) view returns (uint256 fid)",
  "function custodyOf(uint256 fid) view returns (address custody)",
  "function recoveryOf(uint256 fid) view returns (address recovery)",
  "function idCounter() view returns (uint256)",
  "function verifyFidSignature(address custodyAddress, uint256 fid, bytes32 digest, bytes sig) view returns (bool isValid)",
]);
const keyRegistry = parseAbi([
  "struct KeyData { uint8 state; uint32 keyType; }",
  "function keyDataOf(uint256 fid, bytes key) view returns (KeyData)",
  "function keys(uint256 fid, bytes key) view returns (uint8 state, uint32 keyType)",
  "function totalKeys(uint256 fid, uint8 state) view returns (uint256)",
  "function keysOf(uint256 fid, uint8 state, uint256 startIdx, uint256 batchSize) view returns (bytes[] page, uint256 nextIdx)",
]);

const selectorsOf = (abi: typeof idRegistry | typeof keyRegistry) =>
  new Set<string>(abi.map((one) => toFunctionSelector(one)));
const ID_SELECTORS = selectorsOf(idRegistry);
const KEY_SELECTORS = selectorsOf(keyRegistry);

/** Lists what is served, for the error of any other call. */
export const SERVED = `eth_chainId, net_version, eth_blockNumber, eth_getCode, and eth_call of IdRegistry (${idRegistry.map(({ name }) => name).join(", ")}) and KeyRegistry (${keyRegistry.map(({ name }) => name).join(", ")})`;

/**
 * Reason why a call is refused. `unserved`: the node does not serve this function; `out-of-scope`: it does not follow the fid;
 * `unknowable`: only the chain knows the result.
 */
export type RegistryRefusal = "unserved" | "out-of-scope" | "malformed" | "unknowable";

/**
 * Serves or refuses a call of a contract. For an fid that the node does not follow, it never claims that something does not exist.
 *
 * @throws UnconfirmedError while a second node has not confirmed the data that the response relies on.
 */
export type RegistryCall = (to: string, data: Hex) => Promise<Result<Hex, RegistryRefusal>>;

const NOBODY: Hex = `0x${"00".repeat(20)}`;
const MAX_PAGE = 1000;

type RegistryKey = ReturnType<RegistryFacts["keyOf"]>;

const NO_KEY: RegistryKey = { state: KEY_STATES.null, keyType: 0 };

const ECDSA_BYTES = 65;
const HALF_ORDER = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");

/** @param isPartial whether the node follows only some fids. */
export function createRegistryCalls({
  people,
  owners,
  facts,
  isPartial,
}: {
  readonly people: Pick<People, "isFollowed">;
  readonly owners: Owners;
  readonly facts: RegistryFacts;
  readonly isPartial: boolean;
}): RegistryCall {
  /** Converts an argument to an fid. Undefined if it is out of range. */
  const fidOf = (value: bigint) => (value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined);
  /** Runs work that needs an fid, unless the node does not follow it. */
  async function ofFid<T>(
    value: bigint,
    read: (fid: number) => T | Promise<T>,
    absent: T,
  ): Promise<Result<T, RegistryRefusal>> {
    const fid = fidOf(value);
    if (fid === undefined || fid === 0) return ok(absent);
    return people.isFollowed(fid) ? ok(await read(fid)) : err("out-of-scope");
  }
  const custodyOf = async (fid: number) => owners.custodyOf(fid);
  const isOwner = async (fid: number, custody: Hex) =>
    Buffer.compare((await custodyOf(fid)) ?? Buffer.alloc(0), fromHex(custody)) === 0;
  /** An unknown custody address may belong to an fid that the node does not follow. */
  const fidOfCustody = async (custody: Hex): Promise<Result<number, RegistryRefusal>> => {
    const fid = facts.fidOf(fromHex(custody));
    if (fid !== undefined && people.isFollowed(fid)) return ok((await isOwner(fid, custody)) ? fid : 0);
    return isPartial ? err("out-of-scope") : ok(0);
  };

  async function callIdRegistry(data: Hex): Promise<Result<Hex, RegistryRefusal>> {
    const call = decodeFunctionData({ abi: idRegistry, data });
    const { functionName } = call;
    switch (functionName) {
      case "idOf":
        return mapOk(await fidOfCustody(call.args[0]), (fid) =>
          encodeFunctionResult({ abi: idRegistry, functionName, result: BigInt(fid) }),
        );
      case "custodyOf":
      case "recoveryOf": {
        const read = async (fid: number) =>
          functionName === "custodyOf" ? custodyOf(fid) : facts.recoveryOf(fid);
        return mapOk(await ofFid(call.args[0], read, undefined), (address) =>
          encodeFunctionResult({ abi: idRegistry, functionName, result: address ? toHex(address) : NOBODY }),
        );
      }
      case "idCounter":
        return isPartial
          ? err("out-of-scope")
          : ok(encodeFunctionResult({ abi: idRegistry, functionName, result: BigInt(facts.newestFid()) }));
      case "verifyFidSignature": {
        const [custody, fid, digest, signature] = call.args;
        const owns = await ofFid(fid, (known) => isOwner(known, custody), false);
        if (!owns.ok) return owns;
        const result = owns.value && isSignedBy(fromHex(custody), fromHex(digest), fromHex(signature));
        return result === undefined
          ? err("unknowable")
          : ok(encodeFunctionResult({ abi: idRegistry, functionName, result }));
      }
    }
  }

  async function callKeyRegistry(data: Hex): Promise<Result<Hex, RegistryRefusal>> {
    const call = decodeFunctionData({ abi: keyRegistry, data });
    const { functionName } = call;
    switch (functionName) {
      case "keyDataOf":
      case "keys": {
        const key = fromHex(call.args[1]);
        return mapOk(await ofFid(call.args[0], (fid) => keyOf(fid, key), NO_KEY), (result) =>
          functionName === "keyDataOf"
            ? encodeFunctionResult({ abi: keyRegistry, functionName, result })
            : encodeFunctionResult({
                abi: keyRegistry,
                functionName,
                result: [result.state, result.keyType],
              }),
        );
      }
      case "totalKeys": {
        const [fid, state] = call.args;
        return mapOk(await ofFid(fid, (known) => facts.countKeys(known, state), 0), (count) =>
          encodeFunctionResult({ abi: keyRegistry, functionName, result: BigInt(count) }),
        );
      }
      case "keysOf": {
        const [fid, state, start, size] = call.args;
        const from = Number(start < 1_000_000n ? start : 1_000_000n);
        const limit = Number(size < BigInt(MAX_PAGE) ? size : BigInt(MAX_PAGE));
        const found = await ofFid(
          fid,
          (known) => ({
            keys: facts.keysOf(known, state, { from, limit }),
            count: facts.countKeys(known, state),
          }),
          { keys: [], count: 0 },
        );
        return mapOk(found, ({ keys, count }) => {
          const next = from + keys.length < count ? BigInt(from + keys.length) : 0n;
          return encodeFunctionResult({ abi: keyRegistry, functionName, result: [keys.map(toHex), next] });
        });
      }
    }
  }

  /** A key counts as added only after it is confirmed. */
  async function keyOf(fid: number, key: Uint8Array): Promise<RegistryKey> {
    const known = facts.keyOf(fid, key);
    return known.state !== KEY_STATES.added || (await owners.hasKey(fid, key)) ? known : NO_KEY;
  }

  return async (to, data) => {
    const contract = to.toLowerCase();
    if (contract !== ID_REGISTRY && contract !== KEY_REGISTRY) return err("unserved");
    const selectors = contract === ID_REGISTRY ? ID_SELECTORS : KEY_SELECTORS;
    if (!selectors.has(data.slice(0, 10).toLowerCase())) return err("unserved");
    try {
      return await (contract === ID_REGISTRY ? callIdRegistry(data) : callKeyRegistry(data));
    } catch (cause) {
      if (cause instanceof UnconfirmedError) throw cause;
      // The arguments do not match the function. On chain, the call would revert.
      return err("malformed");
    }
  };
}

/** Reports whether an account made a signature, as the contract would decide. Undefined if a contract wallet may have made it. */
function isSignedBy(custody: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean | undefined {
  if (signature.length !== ECDSA_BYTES) return undefined;
  const isLow = Buffer.compare(signature.subarray(32, 64), HALF_ORDER) <= 0;
  const isRecoverable = isLow && (signature[64] === 27 || signature[64] === 28);
  const signer = isRecoverable ? recoverAddress(digest, signature) : undefined;
  return signer !== undefined && Buffer.compare(signer, custody) === 0;
}
