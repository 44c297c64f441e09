import { expect, test } from "bun:test";
import fc from "fast-check";
import { distinct } from "../../src/push/fan-out/distinct.ts";

test("returns the texts without repetitions, in order, as a Set does", () => {
  // Few characters, so that many texts are equal, and many different ones have the same end and length.
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\u{1f600}", "\ud800"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 700, size: "max" }), (texts) => {
      expect(distinct(texts)).toEqual([...new Set(texts)]);
    }),
  );
});

test("returns a list without repetitions itself", () => {
  const texts = ["a", "b"];
  expect(distinct(texts)).toBe(texts);
});

test("ends for any number of different texts", () => {
  const texts = Array.from({ length: 2_000 }, (_, at) => `${at}`);
  expect(distinct([...texts, ...texts])).toEqual(texts);
});

test("keeps nothing of the lists before", () => {
  for (let batch = 0; batch < 30; batch++) {
    const texts = Array.from({ length: 100 }, (_, at) => `${batch} ${at}`);
    expect(distinct(texts)).toBe(texts);
  }
});
