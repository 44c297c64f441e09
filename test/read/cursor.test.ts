import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cursorCodec, cutPage } from "../../src/read/cursor.ts";

const codec = cursorCodec("one", ["int", "hash"]);
const other = cursorCodec("another", ["int", "hash"]);
const hash = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`);

describe("cursor", () => {
  test("comes back as the key that it was made of, and not at another endpoint", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), hash, (time, at) => {
        const cursor = codec.encode([time, at]);
        expect(codec.decode(cursor)).toEqual([time, at]);
        expect(other.decode(cursor)).toBeUndefined();
      }),
    );
  });

  test("any other text is refused, never a fault", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ minLength: 600 })), (text) => {
        expect(codec.decode(text)).toBeUndefined();
      }),
    );
  });

  test("one changed character is never taken for another place of the same shape by accident of spelling", () => {
    fc.assert(
      fc.property(fc.nat(), hash, fc.nat(), fc.constantFrom("=", "+", "/", " "), (time, at, where, mark) => {
        const cursor = codec.encode([time, at]);
        const cut = where % cursor.length;
        expect(codec.decode(cursor.slice(0, cut) + mark + cursor.slice(cut + 1))).toBeUndefined();
      }),
    );
  });
});

test("a page ends with a cursor exactly when rows are left", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), fc.integer({ min: 1, max: 10 }), (rows, limit) => {
      const page = cutPage(rows.slice(0, limit + 1), limit, String);
      expect(page.rows).toEqual(rows.slice(0, limit));
      expect(page.cursor === null).toBe(rows.length <= limit);
    }),
  );
});
