import { expect, test } from "bun:test";
import fc from "fast-check";
import { insertMentionNames } from "../../src/read/present/cast-parts.ts";

test("inserts names at byte offsets of the stored text, and returns ranges as UTF-16 offsets of the result", () => {
  const stored = "héllo  and 👋 ";
  const offsets = [Buffer.byteLength("héllo "), Buffer.byteLength(stored)];
  const { text, ranges } = insertMentionNames(
    stored,
    [
      [1, offsets[0] ?? 0],
      [2, offsets[1] ?? 0],
    ],
    (fid) => `u${fid}`,
  );
  expect(text).toBe("héllo @u1 and 👋 @u2");
  expect(ranges.map(({ start, end }) => text.slice(start, end))).toEqual(["@u1", "@u2"]);
});

test("each range contains its name, and the rest equals the stored text, for any offsets", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 99 }), fc.nat({ max: 200 })), { maxLength: 10 }),
      (anyText, mentions) => {
        // Texts arrive as valid UTF-8, so lone surrogates cannot be in them.
        const stored = anyText.toWellFormed();
        const { text, ranges } = insertMentionNames(stored, mentions, (fid) => `user${fid}`);
        expect(ranges.map(({ start, end }) => text.slice(start, end))).toEqual(
          mentions.map(([fid]) => `@user${fid}`),
        );
        let rest = "";
        let at = 0;
        for (const { start, end } of ranges) {
          rest += text.slice(at, start);
          at = end;
        }
        expect(rest + text.slice(at)).toBe(stored);
      },
    ),
  );
});
