import { recoverAddress } from "../protocol/validate/eth.ts";

const SIGNATURE_BYTES = 65;
const RECOVERY_BYTES: readonly (number | undefined)[] = [0, 1, 27, 28];
/** Half the order of secp256k1. Of the two values of s that verify, the higher one is rejected (EIP-2). */
const HALF_ORDER = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");

/** Reports whether a signature has the accepted form: 65 bytes `r s v`, with v and s in their allowed ranges. */
export function isWellFormedSignature(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || !RECOVERY_BYTES.includes(signature[64])) return false;
  return Buffer.compare(signature.subarray(32, 64), HALF_ORDER) <= 0;
}

/**
 * Returns the 20-byte address that signed a 32-byte digest, or undefined. Exactly one signature is accepted for a key
 * and a digest, except for the two encodings of v: 65 bytes `r s v`, v one of 0, 1, 27 and 28, low s.
 */
export function recoverSigner(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  return isWellFormedSignature(signature) ? recoverAddress(digest, signature) : undefined;
}
