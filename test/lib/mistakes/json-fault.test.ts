import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonFaultAt, jsonFaultText } from "../../../src/lib/mistakes/json-fault.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ["", 0],
  ["{", 1],
  ["{]", 1],
  ["[1,]", 3],
  ['{"a":1,}', 7],
  ['{"a" 1}', 5],
  ["{a:1}", 1],
  ["{'a':1}", 1],
  ["nul", 0],
  ["01", 1],
  ["1.", 1],
  ["[1 2]", 3],
  ["{} x", 3],
  ['"a\nb"', 2],
  ['"\\x"', 1],
  ['"open', 5],
  ["]", 0],
  [",", 0],
])("%j is no JSON from offset %i on", (text, at) => {
  expect(jsonFaultAt(text)).toBe(at);
});

test("a text has a fault exactly if it is not JSON, and none before it", () => {
  const pieces = fc.constantFrom(...'{}[],:"\\ \n-+.e01a', "true", "null", '"k":', '"v"', "\\u00e4");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(pieces, { maxLength: 12 }).map((list) => list.join("")),
      ),
      (text) => {
        const at = jsonFaultAt(text);
        expect([text, at === undefined]).toEqual([text, isJson(text)]);
        // What precedes the fault may still become JSON, so its own fault is only that it ends.
        if (at !== undefined) expect([text, jsonFaultAt(text.slice(0, at)) ?? at]).toEqual([text, at]);
      },
    ),
    { numRuns: 2000 },
  );
});

test("the place is a line and a column in characters, without the text around it", () => {
  const placeIn = (text: string) => jsonFaultText(Buffer.from(text));
  expect(placeIn('{\n  "ä😀": s3cret\n}')).toBe(": unexpected character at line 2, column 9");
  expect(placeIn('{"fid": 3')).toBe(": it ends at line 1, column 10");
  expect(placeIn("[".repeat(100_000))).toBe(": it ends at line 1, column 100001");
  expect(placeIn("x".repeat(1_000_001))).toBe("");
  expect(jsonFaultText(Uint8Array.of(0x22, 0xff))).toBe(": it is not UTF-8");
});
