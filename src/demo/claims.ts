import { sign } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { bytesToHex, encodeAbiParameters, hashTypedData } from "viem/utils";
import { encodeBase58 } from "../lib/base58.ts";
import type { Ed25519Key } from "../protocol/message/build-message.ts";
import { fnameDigest } from "../protocol/validate/username-proof.ts";
import { type FarcasterNetwork, VerificationProtocol } from "../protocol/wire/generated/message.ts";
import type { Wallet } from "./keys.ts";

/** The demo network's signatures other than those of messages. All of them are valid. */

/**
 * Returns the metadata of a signer event: an ABI tuple in which the client app `requestFid` requests the key, signed (EIP-712) by that
 * app's custody wallet. `deadlineSecs` is in unix seconds.
 */
export function signedKeyRequestMetadata(request: {
  requestFid: number;
  requestWallet: Wallet;
  key: Uint8Array;
  deadlineSecs: number;
}): Uint8Array {
  const requestFid = BigInt(request.requestFid);
  const deadline = BigInt(request.deadlineSecs);
  const signature = signDigest(
    hashTypedData({
      domain: {
        name: "Farcaster SignedKeyRequestValidator",
        version: "1",
        chainId: 10,
        verifyingContract: "0x00000000FC700472606ED4fA22623Acf62c60553",
      },
      types: {
        SignedKeyRequest: [
          { name: "requestFid", type: "uint256" },
          { name: "key", type: "bytes" },
          { name: "deadline", type: "uint256" },
        ],
      },
      primaryType: "SignedKeyRequest",
      message: { requestFid, key: bytesToHex(request.key), deadline },
    }),
    request.requestWallet,
  );
  const encoded = encodeAbiParameters(
    [
      {
        type: "tuple",
        components: [
          { name: "requestFid", type: "uint256" },
          { name: "requestSigner", type: "address" },
          { name: "signature", type: "bytes" },
          { name: "deadline", type: "uint256" },
        ],
      },
    ],
    [
      {
        requestFid,
        requestSigner: bytesToHex(request.requestWallet.address),
        signature: bytesToHex(signature),
        deadline,
      },
    ],
  );
  return hexToBytes(encoded.slice(2));
}

/** Returns the name server's EIP-712 signature for an fname. `timestampSecs` is in unix seconds. */
export function nameProofSignature(
  proof: { name: string; timestampSecs: number; owner: Uint8Array },
  nameServer: Wallet,
): Uint8Array {
  const { timestampSecs: timestamp, owner } = proof;
  return signDigest(bytesToHex(fnameDigest({ name: utf8ToBytes(proof.name), timestamp, owner })), nameServer);
}

/** Returns an Ethereum wallet's EIP-712 signature of the claim that it belongs to the fid. */
export function ethereumClaimSignature(
  claim: { fid: number; blockHash: Uint8Array; network: FarcasterNetwork },
  wallet: Wallet,
): Uint8Array {
  return signDigest(
    hashTypedData({
      domain: {
        name: "Farcaster Verify Ethereum Address",
        version: "2.0.0",
        salt: "0xf2d857f4a3edcb9b78b4d503bfe733db1e3f6cdc2b7971ee739626c97e86a558",
      },
      types: {
        VerificationClaim: [
          { name: "fid", type: "uint256" },
          { name: "address", type: "address" },
          { name: "blockHash", type: "bytes32" },
          { name: "network", type: "uint8" },
        ],
      },
      primaryType: "VerificationClaim",
      message: {
        fid: BigInt(claim.fid),
        address: bytesToHex(wallet.address),
        blockHash: bytesToHex(claim.blockHash),
        network: claim.network,
      },
    }),
    wallet,
  );
}

/** Returns a Solana wallet's signature of the claim that it belongs to the fid: Ed25519 over one line of text. */
export function solanaClaimSignature(
  claim: { fid: number; blockHash: Uint8Array; network: FarcasterNetwork },
  wallet: Ed25519Key,
): Uint8Array {
  const address = encodeBase58(wallet.publicKey);
  const blockHash = encodeBase58(claim.blockHash);
  const protocol = VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA;
  const text = `fid: ${claim.fid} address: ${address} network: ${claim.network} blockHash: ${blockHash} protocol: ${protocol}`;
  return new Uint8Array(sign(null, utf8ToBytes(text), wallet.privateKey));
}

/** Returns r, s and v (27 or 28) for a 32-byte digest. Deterministic (RFC 6979). */
function signDigest(digest: `0x${string}`, wallet: Wallet): Uint8Array {
  const signature = secp256k1.sign(hexToBytes(digest.slice(2)), wallet.privateKey, {
    prehash: false,
    format: "recovered",
  });
  const [recovery = 0] = signature;
  return concatBytes(signature.subarray(1), Uint8Array.of(27 + recovery));
}
