import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { getAddress } from "viem/utils";

export type Hex = `0x${string}`;

const SIGNATURE_BYTES = 65;
const HEX_ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

export function fromHex(hex: Hex): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2), "hex"));
}

/** Returns the 20 bytes of an address in EIP-55 form, or undefined for any other text. */
export function parseChecksumAddress(text: string): Uint8Array | undefined {
  return HEX_ADDRESS.test(text) && getAddress(text) === text ? fromHex(text as Hex) : undefined;
}

const { Point, Signature } = secp256k1;
const EVEN_Y = 2;
const ODD_Y = 3;

/**
 * Returns the address whose key made a 65-byte `r s v` signature of a 32-byte digest, or undefined if there is none. As on
 * the reference node, v is even for 0 and 27 and odd for every other value, and both halves of s are accepted.
 */
export function recoverAddress(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  if (signature.length !== SIGNATURE_BYTES) return undefined;
  const v = signature[64];
  try {
    const key = recoverKey(digest, signature.subarray(0, 64), v === 0 || v === 27 ? EVEN_Y : ODD_Y);
    return keccak_256(key.toBytes(false).subarray(1)).slice(-20);
  } catch {
    // r or s is out of range, r is not the x coordinate of a point, or the key would be the point at infinity.
    return undefined;
  }
}

/**
 * Recovers the public key `(s R - h G) / r`.
 *
 * The library's own recovery computes both products in one loop and cannot use its precomputed table of G. Computing
 * them separately takes a tenth less time.
 *
 * @throws Error if there is no such point. The point at infinity has no bytes.
 */
function recoverKey(digest: Uint8Array, compact: Uint8Array, signOfR: number) {
  const { Fn } = Point;
  const { r, s } = Signature.fromBytes(compact, "compact");
  const pointR = Point.fromBytes(Uint8Array.of(signOfR, ...compact.subarray(0, 32)));
  const h = Fn.create(BigInt(toHex(digest)));
  const inverse = Fn.inv(r);
  return pointR.multiplyUnsafe(Fn.mul(s, inverse)).subtract(Point.BASE.multiplyUnsafe(Fn.mul(h, inverse)));
}
