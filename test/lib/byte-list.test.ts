import { expect, test } from "bun:test";
import fc from "fast-check";
import { packBytes, unpackBytes } from "../../src/lib/bytes.ts";

test("unpackBytes returns the packed items, also from a buffer that starts elsewhere", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), fc.nat(9), (items, offset) => {
      const { count, bytes } = packBytes(items);
      const shifted = new Uint8Array(offset + bytes.length).subarray(offset);
      shifted.set(bytes);
      expect(unpackBytes({ count, bytes: shifted }).map((item) => item.toHex())).toEqual(
        items.map((item) => item.toHex()),
      );
    }),
  );
});

test("packBytes uses a buffer of its own", () => {
  const { bytes } = packBytes([Uint8Array.of(1, 2, 3)]);
  expect(bytes.byteLength).toBe(bytes.buffer.byteLength);
});
