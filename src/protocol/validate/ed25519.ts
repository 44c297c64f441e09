import { createPublicKey, type KeyObject, verify } from "node:crypto";

const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/**
 * The y coordinates, little-endian and without the sign bit, of all points whose order divides 8, in every 32-byte encoding:
 * 0, 1, p - 1, the two of order 8, and p and p + 1, which are non-canonical encodings of 0 and 1.
 */
const SMALL_ORDER_Y = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
].map((hex) => Buffer.from(hex, "hex"));

/**
 * Verifies an Ed25519 signature as strictly as the reference node (`verify_strict` of ed25519-dalek): the public key and the
 * signature's R must not have small order, because such a key "signs" any message. The library itself refuses a scalar s of
 * L or more and an R that is not in canonical form. Other non-canonical public keys need no rule: they are the points with y
 * from 2 to 18, whose private keys are unknown.
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return ed25519Verifier(publicKey)?.(message, signature) ?? false;
}

/** Verifies signatures by one key. */
export type Ed25519Verifier = (message: Uint8Array, signature: Uint8Array) => boolean;

/**
 * Returns a verifier for a key that signs often, so that the key is parsed only once; undefined if it is not a key. See
 * `verifyEd25519`.
 */
export function ed25519Verifier(publicKey: Uint8Array): Ed25519Verifier | undefined {
  if (publicKey.length !== 32 || hasSmallOrder(publicKey)) return undefined;
  const key = parseKey(publicKey);
  return key && ((message, signature) => verifyWith(key, message, signature));
}

function parseKey(publicKey: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: "der", type: "spki" });
  } catch {
    // The library may throw for a key that is not a point of the curve.
    return undefined;
  }
}

function verifyWith(key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64 || hasSmallOrder(signature)) return false;
  try {
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

/**
 * Reports whether the point in the first 32 bytes is one of the eight that become zero when multiplied by 8: such a key
 * "signs" any message.
 */
export function hasSmallOrder(point: Uint8Array): boolean {
  return SMALL_ORDER_Y.some((y) => {
    for (let index = 0; index < 31; index++) if (point[index] !== y[index]) return false;
    return ((point[31] ?? 0) & 0x7f) === y[31];
  });
}
