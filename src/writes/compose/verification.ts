import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import { VERIFICATION_TYPE_CONTRACT, VERIFICATION_TYPE_EOA } from "../../protocol/validate/verification.ts";
import {
  type VerificationAddBody,
  VerificationProtocol,
  type VerificationRemoveBody,
} from "../../protocol/wire/generated/message.ts";
import { readHex } from "./fields.ts";

const ADDRESS_BYTES = 20;
const BLOCK_HASH_BYTES = 32;
/** The data of a message has at most 2,048 bytes, which bounds a contract's signature. */
const MAX_SIGNATURE_BYTES = 2048;
const SIGNATURE = /^(?:0x)?((?:[0-9a-f]{2})+)$/i;

/** The chains whose contracts may sign a claim; 0 for the claim of a key. */
const CHAIN_IDS: readonly unknown[] = [0, 1, 10];

/**
 * Builds the body of a verification of an Ethereum address from `address`, `block_hash`, `eth_signature`, `verification_type` and
 * `chain_id`. Whether the address signed the claim is verified like for any message.
 */
export function composeVerification(request: JsonObject): Result<VerificationAddBody, Refusal> {
  const address = readHex(ownValue(request, "address"), "address", ADDRESS_BYTES);
  if (!address.ok) return address;
  const blockHash = readHex(ownValue(request, "block_hash"), "block_hash", BLOCK_HASH_BYTES);
  if (!blockHash.ok) return blockHash;
  const claimSignature = readSignature(ownValue(request, "eth_signature"));
  if (!claimSignature.ok) return claimSignature;
  const verificationType = ownValue(request, "verification_type") ?? VERIFICATION_TYPE_EOA;
  if (verificationType !== VERIFICATION_TYPE_EOA && verificationType !== VERIFICATION_TYPE_CONTRACT) {
    return badField("verification_type must be 0 or 1");
  }
  const chainId = ownValue(request, "chain_id") ?? 0;
  if (!CHAIN_IDS.includes(chainId)) return badField("chain_id must be 0, 1 or 10");
  return ok({
    address: address.value,
    blockHash: blockHash.value,
    claimSignature: claimSignature.value,
    verificationType,
    chainId: chainId as number,
    protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM,
  });
}

/** Builds the body of the removal of a verification from `address`. The protocol requires no claim for it. */
export function composeVerificationRemove(request: JsonObject): Result<VerificationRemoveBody, Refusal> {
  const address = readHex(ownValue(request, "address"), "address", ADDRESS_BYTES);
  if (!address.ok) return address;
  return ok({ address: address.value, protocol: VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM });
}

function readSignature(value: unknown): Result<Uint8Array, Refusal> {
  const digits = typeof value === "string" ? SIGNATURE.exec(value)?.[1] : undefined;
  return digits !== undefined && digits.length <= 2 * MAX_SIGNATURE_BYTES
    ? ok(Uint8Array.fromHex(digits))
    : badField("eth_signature must be hex digits");
}
