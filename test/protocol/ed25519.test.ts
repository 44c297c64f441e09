import { describe, expect, test } from "bun:test";
import { createHash, createPublicKey, verify } from "node:crypto";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { verifyEd25519 } from "../../src/protocol/validate/ed25519.ts";
import { makeSigner, signBytes } from "../support/messages.ts";

const P = 2n ** 255n - 19n;
const L = ed25519.Point.Fn.ORDER;
const signer = makeSigner("strict");
const message = Buffer.from("0123456789abcdef0123");

const toBytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
const toInteger = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const scalarOf = (...parts: Uint8Array[]) =>
  toInteger(
    createHash("sha512")
      .update(join(...parts))
      .digest(),
  ) % L;

/** Verifies with node:crypto only, without the refusal of small orders. */
function verifyLeniently(publicKey: Uint8Array, text: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString("base64url");
  return verify(
    null,
    text,
    createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }),
    signature,
  );
}

/** All 32-byte encodings of points of small order: noble's eight, with y + p and either sign bit where they fit. */
const smallOrder = [
  ...new Set(
    ED25519_TORSION_SUBGROUP.flatMap((hex) => {
      const bytes = Buffer.from(hex, "hex");
      const y = toInteger(bytes) & (2n ** 255n - 1n);
      const spellings = y + P < 2n ** 255n ? [y, y + P] : [y];
      return spellings
        .flatMap((value) => [value, value + 2n ** 255n])
        .map((value) => toBytes(value).toString("hex"));
    }),
  ),
].map((hex) => new Uint8Array(Buffer.from(hex, "hex")));

describe("verifyEd25519", () => {
  test("there are fourteen encodings of small-order points", () => {
    expect(smallOrder.length).toBe(14);
  });

  test("refuses every public key of small order, even if node:crypto accepts the signature", () => {
    let taken = 0;
    for (const key of smallOrder) {
      for (const r of smallOrder) {
        const signature = join(r, new Uint8Array(32));
        for (let attempt = 0; attempt < 16; attempt++) {
          const text = Uint8Array.of(attempt);
          if (verifyLeniently(key, text, signature)) taken++;
          expect(verifyEd25519(key, text, signature)).toBe(false);
        }
      }
    }
    expect(taken).toBeGreaterThan(50);
  });

  test("refuses an R of small order for a valid key, which node:crypto accepts", () => {
    const identity = Uint8Array.of(1, ...new Uint8Array(31));
    const { scalar } = ed25519.utils.getExtendedPublicKey(signer.privateKey);
    const k = scalarOf(identity, signer.publicKey, message);
    const signature = join(identity, toBytes((k * scalar) % L));
    expect(verifyLeniently(signer.publicKey, message, signature)).toBe(true);
    expect(verifyEd25519(signer.publicKey, message, signature)).toBe(false);
  });

  test("refuses s + L, the malleable form of a signature", () => {
    const signature = signBytes(message, signer);
    const twin = join(signature.subarray(0, 32), toBytes(toInteger(signature.subarray(32)) + L));
    expect(verifyEd25519(signer.publicKey, message, signature)).toBe(true);
    expect(verifyEd25519(signer.publicKey, message, twin)).toBe(false);
  });

  test("accepts a key with a small-order component if the equation holds, as the reference node does", () => {
    const torsion = ed25519.Point.fromHex(ED25519_TORSION_SUBGROUP[1] ?? "");
    const { scalar, point } = ed25519.utils.getExtendedPublicKey(signer.privateKey);
    const key = point.add(torsion).toBytes();
    // If k is a multiple of 8 the small-order component cancels out; that is the case for every eighth text.
    for (let attempt = 0; attempt < 200; attempt++) {
      const text = Uint8Array.of(attempt);
      const r = ed25519.Point.BASE.multiply(BigInt(attempt + 2));
      const k = scalarOf(r.toBytes(), key, text);
      if (k % 8n !== 0n) continue;
      const signature = join(r.toBytes(), toBytes((BigInt(attempt + 2) + k * scalar) % L));
      expect(verifyEd25519(key, text, signature)).toBe(true);
      return;
    }
    throw new Error("no text found");
  });

  test("refuses keys and signatures of other lengths, and keys that are not points", () => {
    const signature = signBytes(message, signer);
    expect(verifyEd25519(signer.publicKey.subarray(1), message, signature)).toBe(false);
    expect(verifyEd25519(join(signer.publicKey, Uint8Array.of(0)), message, signature)).toBe(false);
    expect(verifyEd25519(signer.publicKey, message, signature.subarray(1))).toBe(false);
    expect(verifyEd25519(signer.publicKey, message, join(signature, Uint8Array.of(0)))).toBe(false);
    expect(verifyEd25519(toBytes(2n), message, signature)).toBe(false);
    expect(verifyEd25519(new Uint8Array(32).fill(255), message, signature)).toBe(false);
  });

  test("agrees with noble's strict verification for valid and damaged signatures", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uint8Array({ maxLength: 40 }),
        fc.nat(95),
        fc.nat(8),
        (seed, text, at, bit) => {
          const key = makeSigner(seed);
          const both = join(key.publicKey, signBytes(text, key));
          // Bit 8 leaves the signature unchanged.
          if (bit < 8) both[at] = (both[at] ?? 0) ^ (1 << bit);
          const [publicKey, signature] = [both.subarray(0, 32), both.subarray(32)];
          const expected = ed25519.verify(signature, text, publicKey, { zip215: false });
          return verifyEd25519(publicKey, text, signature) === expected && expected === (bit === 8);
        },
      ),
      { numRuns: 150 },
    );
  });
});
