import { describe, expect, test } from "bun:test";
import { base58ToBytes, bytesToBase58 } from "@farcaster/core";
import fc from "fast-check";
import { decodeBase58, encodeBase58 } from "../../src/lib/base58.ts";

describe("base58", () => {
  test("encodes as Bitcoin Core does, leading zeros included", () => {
    const bytes = fc
      .tuple(fc.nat(4), fc.uint8Array({ minLength: 1, maxLength: 40 }))
      .map(([zeros, rest]) => Uint8Array.from([...new Array(zeros).fill(0), ...rest]));
    fc.assert(
      fc.property(bytes, (value) => {
        const text = encodeBase58(value);
        expect(text).toBe(bytesToBase58(value)._unsafeUnwrap());
        expect(decodeBase58(text, value.length)).toEqual(value);
        expect(decodeBase58(text, value.length + 1)).toBeUndefined();
      }),
    );
  });

  test("decodes what Bitcoin Core decodes, when the size matches", () => {
    const text = fc.string({ unit: fc.constantFrom(..."1119ABzmN0OIl "), maxLength: 12 });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (value, size) => {
        const decoded = base58ToBytes(value);
        const expected =
          decoded.isOk() && decoded.value.length === size ? Uint8Array.from(decoded.value) : undefined;
        expect(decodeBase58(value, size)).toEqual(expected);
      }),
    );
  });
});
