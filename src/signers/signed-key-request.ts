import { hashTypedData } from "viem/utils";
import { recoverSigner } from "../auth/recover.ts";
import { fromHex, toHex } from "../protocol/validate/eth.ts";
import { SIGNED_KEY_REQUEST_TYPES, signedKeyRequestDigest } from "../protocol/validate/gasless-key.ts";

/**
 * An app's signature of a SignedKeyRequest is made under one of two EIP-712 domains: that of the contract on OP Mainnet, which
 * clients of the hosted API use, or that of gasless keys. Neither counts for the other.
 */
export type RequestDomain = "chain" | "gasless";

/** What an app signs to request a key: its own fid, the key, and a deadline in unix seconds. */
export interface KeyRequest {
  readonly requestFid: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly deadline: number;
}

/** The domain of the contract SignedKeyRequestValidator. */
const CHAIN_DOMAIN = {
  name: "Farcaster SignedKeyRequestValidator",
  version: "1",
  chainId: 10n,
  verifyingContract: "0x00000000fc700472606ed4fa22623acf62c60553",
} as const;

/** Returns the 20-byte address that signed a request under a domain; undefined for a signature of another form. */
export function recoverKeyRequest(
  domain: RequestDomain,
  { requestFid, key, deadline }: KeyRequest,
  signature: Uint8Array,
): Uint8Array | undefined {
  const digest =
    domain === "gasless"
      ? signedKeyRequestDigest(requestFid, key, BigInt(deadline))
      : fromHex(
          hashTypedData({
            domain: CHAIN_DOMAIN,
            types: SIGNED_KEY_REQUEST_TYPES,
            primaryType: "SignedKeyRequest",
            message: { requestFid: BigInt(requestFid), key: toHex(key), deadline: BigInt(deadline) },
          }),
        );
  return recoverSigner(digest, signature);
}

/** Returns the domain under which `custody` signed a request; undefined if it did not. */
export function domainOf(
  request: KeyRequest,
  signature: Uint8Array,
  custody: Uint8Array,
): RequestDomain | undefined {
  return (["chain", "gasless"] as const).find((domain) => {
    const signer = recoverKeyRequest(domain, request, signature);
    return signer !== undefined && Buffer.compare(signer, custody) === 0;
  });
}
