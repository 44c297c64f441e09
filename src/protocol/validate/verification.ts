import { hashTypedData } from "viem/utils";
import { encodeBase58 } from "../../lib/base58.ts";
import { invalid, type Rejection } from "../rejection.ts";
import {
  type MessageData,
  type VerificationAddBody,
  VerificationProtocol,
  type VerificationRemoveBody,
} from "../wire/generated/message.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { fromHex, recoverAddress, toHex } from "./eth.ts";
import { equalBytes } from "./fields.ts";

/** `verification_type` says whether a key or a contract signed an Ethereum claim. */
export const VERIFICATION_TYPE_EOA = 0;
export const VERIFICATION_TYPE_CONTRACT = 1;

const ETH_CHAIN_IDS: readonly number[] = [0, 1, 5, 10, 420];
const BLOCK_HASH_BYTES = 32;
const EOA_SIGNATURE_BYTES = 65;
const SOLANA_SIGNATURE_BYTES = 64;

const CLAIM_DOMAIN = {
  name: "Farcaster Verify Ethereum Address",
  version: "2.0.0",
  salt: "0xf2d857f4a3edcb9b78b4d503bfe733db1e3f6cdc2b7971ee739626c97e86a558",
} as const;

const CLAIM_TYPES = {
  VerificationClaim: [
    { name: "fid", type: "uint256" },
    { name: "address", type: "address" },
    { name: "blockHash", type: "bytes32" },
    { name: "network", type: "uint8" },
  ],
} as const;

/** The claim of a verification, that the address belongs to the fid on the network. */
export interface VerificationClaim {
  readonly fid: number;
  readonly network: number;
  readonly address: Uint8Array;
  readonly blockHash: Uint8Array;
}

/** Returns the size of an address of the protocol, or undefined for an unknown protocol. */
function addressBytesOf(protocol: VerificationProtocol): number | undefined {
  switch (protocol) {
    case VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM:
      return 20;
    case VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA:
      return 32;
    default:
      return undefined;
  }
}

/**
 * Validates a verification, including the signature of a Solana claim. `verifyEthClaim` recovers the signer of an Ethereum
 * claim. Only a chain can check whether a contract accepts its claim (`needsChainCheck`). The protocol's limit of 2048 bytes
 * for a contract's signature is that of the whole data, so the envelope enforces it.
 */
export function validateVerificationAdd(body: VerificationAddBody, data: MessageData): Rejection | undefined {
  const rejection = checkAddress(body.protocol, body.address);
  if (rejection) return rejection;
  if (body.blockHash.length !== BLOCK_HASH_BYTES) {
    return invalid(`block_hash must be ${BLOCK_HASH_BYTES} bytes`);
  }
  return body.protocol === VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA
    ? validateSolanaClaim(claimOf(body, data), body.claimSignature)
    : validateEthClaim(body);
}

/** Reports whether `verifyEthClaim` must recover the signer of a valid verification's claim. */
export function hasEthClaim({ protocol, verificationType }: VerificationAddBody): boolean {
  const isEthereum = protocol === VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM;
  return isEthereum && verificationType === VERIFICATION_TYPE_EOA;
}

/** Recovers the signer of the Ethereum claim of a valid verification, which must be the claimed address. */
export function verifyEthClaim(body: VerificationAddBody, data: MessageData): Rejection | undefined {
  const signer = recoverAddress(ethClaimDigest(claimOf(body, data)), body.claimSignature);
  return signer && equalBytes(signer, body.address)
    ? undefined
    : invalid("claim_signature is not the address's");
}

export function validateVerificationRemove(body: VerificationRemoveBody): Rejection | undefined {
  return checkAddress(body.protocol, body.address);
}

export function claimOf(body: VerificationAddBody, data: MessageData): VerificationClaim {
  return { fid: data.fid, network: data.network, address: body.address, blockHash: body.blockHash };
}

/**
 * Returns the EIP-712 digest that an Ethereum address signs. If a key signs, the domain has no chain. A contract's claim is
 * bound to the contract's chain.
 */
export function ethClaimDigest(claim: VerificationClaim, contractChainId?: number): Uint8Array {
  const domain =
    contractChainId === undefined ? CLAIM_DOMAIN : { ...CLAIM_DOMAIN, chainId: BigInt(contractChainId) };
  return fromHex(
    hashTypedData({
      domain,
      types: CLAIM_TYPES,
      primaryType: "VerificationClaim",
      message: {
        fid: BigInt(claim.fid),
        address: toHex(claim.address),
        blockHash: toHex(claim.blockHash),
        network: claim.network,
      },
    }),
  );
}

/** Returns the ASCII text whose bytes a Solana address signs. */
export function solanaClaimText(claim: VerificationClaim): string {
  const address = encodeBase58(claim.address);
  const blockHash = encodeBase58(claim.blockHash);
  const protocol = VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA;
  return `fid: ${claim.fid} address: ${address} network: ${claim.network} blockHash: ${blockHash} protocol: ${protocol}`;
}

function checkAddress(protocol: VerificationProtocol, address: Uint8Array): Rejection | undefined {
  const size = addressBytesOf(protocol);
  if (size === undefined) return invalid("verification protocol is unknown");
  return address.length === size ? undefined : invalid(`address must be ${size} bytes for this protocol`);
}

function validateEthClaim(body: VerificationAddBody): Rejection | undefined {
  if (!ETH_CHAIN_IDS.includes(body.chainId)) return invalid("chain_id is none of 0, 1, 5, 10, 420");
  switch (body.verificationType) {
    case VERIFICATION_TYPE_EOA:
      return body.claimSignature.length === EOA_SIGNATURE_BYTES
        ? undefined
        : invalid(`claim_signature must be ${EOA_SIGNATURE_BYTES} bytes`);
    case VERIFICATION_TYPE_CONTRACT:
      return undefined;
    default:
      return invalid("verification_type is unknown");
  }
}

function validateSolanaClaim(claim: VerificationClaim, signature: Uint8Array): Rejection | undefined {
  if (signature.length !== SOLANA_SIGNATURE_BYTES) {
    return invalid(`claim_signature must be ${SOLANA_SIGNATURE_BYTES} bytes`);
  }
  return verifyEd25519(claim.address, Buffer.from(solanaClaimText(claim), "ascii"), signature)
    ? undefined
    : invalid("claim_signature is not the address's");
}
