import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cursorCodec, cutPage } from "../../src/read/cursor.ts";

const codec = cursorCodec("one", ["int", "hash"]);
const other = cursorCodec("another", ["int", "hash"]);
const hash = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`);

describe("cursor", () => {
  test("decodes to its key at its list and to undefined at another one", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), hash, (time, at) => {
        const cursor = codec.encode([time, at]);
        expect(codec.decode(cursor)).toEqual([time, at]);
        expect(other.decode(cursor)).toBeUndefined();
      }),
    );
  });

  test("decodes to its key whatever a text of up to 256 bytes contains, such as the URL of a channel", () => {
    const texts = cursorCodec("texts", ["int", "int", "text"]);
    const unit = fc.constantFrom("a", '"', "\\", "\0", "\u001f", "é", "中", "😀");
    const text = fc
      .tuple(unit, fc.nat(256))
      .map(([char, times]) => char.repeat(times / Buffer.byteLength(char)));
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), text, (at, id) => {
        expect(texts.decode(texts.encode([at, 2000, id]))).toEqual([at, 2000, id]);
      }),
    );
  });

  test("of a release before texts were packed decodes to undefined, and one without texts to its key", () => {
    const ofVersion1 = (cursor: string, key: readonly unknown[]) => {
      const head = Buffer.from(cursor, "base64url").subarray(0, 5);
      head.writeUInt8(1);
      return Buffer.concat([head, Buffer.from(JSON.stringify(key))]).toString("base64url");
    };
    const texts = cursorCodec("texts", ["int", "text"]);
    // A text of the earlier form that is a packed text as well.
    expect(texts.decode(ofVersion1(texts.encode([7, ""]), [7, "memes"]))).toBeUndefined();
    expect(texts.decode(ofVersion1(texts.encode([7, ""]), [7, "abcd"]))).toBeUndefined();
    const key = [7, `0x${"ab".repeat(20)}`] as const;
    expect(codec.decode(ofVersion1(codec.encode(key), key))).toEqual(key);
  });

  test("decodes any other text to undefined without an exception", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ minLength: 600 })), (text) => {
        expect(codec.decode(text)).toBeUndefined();
      }),
    );
  });

  test("decodes a cursor with one character outside the alphabet to undefined", () => {
    fc.assert(
      fc.property(fc.nat(), hash, fc.nat(), fc.constantFrom("=", "+", "/", " "), (time, at, where, mark) => {
        const cursor = codec.encode([time, at]);
        const cut = where % cursor.length;
        expect(codec.decode(cursor.slice(0, cut) + mark + cursor.slice(cut + 1))).toBeUndefined();
      }),
    );
  });
});

test("a page has a cursor if and only if more rows follow", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 20 }), fc.integer({ min: 1, max: 10 }), (rows, limit) => {
      const page = cutPage(rows.slice(0, limit + 1), limit, String);
      expect(page.rows).toEqual(rows.slice(0, limit));
      expect(page.cursor === null).toBe(rows.length <= limit);
    }),
  );
});
