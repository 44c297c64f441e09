import { expect, test } from "bun:test";
import fc from "fast-check";
import { authAddressOf, canonicalKey } from "../../src/protocol/auth-address.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

test("an ABI-encoded address and the bare address are the same key", () => {
  fc.assert(
    fc.property(bytes(20), (address) => {
      const encoded = Buffer.concat([Buffer.alloc(12), address]);
      expect(canonicalKey(address).toHex()).toBe(encoded.toHex());
      expect(canonicalKey(encoded)).toBe(encoded);
      expect(authAddressOf(address)?.toHex()).toBe(address.toHex());
      expect(authAddressOf(encoded)?.toHex()).toBe(address.toHex());
    }),
  );
});

test("a key with other contents is unchanged and has no address", () => {
  const padded = fc.tuple(bytes(12), bytes(20)).filter(([padding]) => padding.some((byte) => byte !== 0));
  const key = fc.oneof(
    padded.map((parts) => new Uint8Array(Buffer.concat(parts))),
    fc.uint8Array({ maxLength: 64 }).filter(({ length }) => length !== 20 && length !== 32),
  );
  fc.assert(
    fc.property(key, (other) => {
      expect(canonicalKey(other)).toBe(other);
      expect(authAddressOf(other)).toBeUndefined();
    }),
  );
});
