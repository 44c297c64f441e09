import { recoverAddress } from "../protocol/validate/eth.ts";

const SIGNATURE_BYTES = 65;
const RECOVERY_BYTES: readonly (number | undefined)[] = [0, 1, 27, 28];
/** Half the order of secp256k1. Of the two s that verify, the one above it is refused (EIP-2). */
const HALF_ORDER = Buffer.from("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", "hex");

/** Whether a signature has the one form that is taken, whatever it signs: 65 bytes `r s v`, v and s as allowed. */
export function isWellFormedSignature(signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES || !RECOVERY_BYTES.includes(signature[64])) return false;
  return Buffer.compare(signature.subarray(32, 64), HALF_ORDER) <= 0;
}

/**
 * The 20-byte address that made a signature of a 32-byte digest, or undefined. Exactly one signature passes for a key
 * and a digest, up to the two spellings of v: 65 bytes `r s v`, v one of 0, 1, 27 and 28, low s.
 */
export function recoverSigner(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  return isWellFormedSignature(signature) ? recoverAddress(digest, signature) : undefined;
}
