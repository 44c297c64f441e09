import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvCell, csvFile } from "../../../../src/console/web/manage/apps/campaign.ts";
import { mayFold } from "../../../../src/console/web/text/runs.ts";

/** Parses a CSV file as RFC 4180 has it. */
function parse(file: string): string[][] {
  const rows: string[][] = [[]];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < file.length; at++) {
    const character = file[at] ?? "";
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (file[at + 1] === '"') cell += file[++at];
      else isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "," || file.startsWith("\r\n", at)) {
      rows.at(-1)?.push(cell);
      cell = "";
      if (character !== ",") {
        rows.push([]);
        at++;
      }
    } else cell += character;
  }
  return rows.slice(0, -1);
}

describe("csvFile", () => {
  test("is read back as the same cells", () => {
    const cells = fc.array(fc.string({ unit: fc.constantFrom(..."ab,\"'\r\n =é") }), {
      minLength: 2,
      maxLength: 2,
    });
    fc.assert(
      fc.property(fc.array(cells, { maxLength: 5 }), (rows) => {
        const read = parse(csvFile(["a", "b"], rows));
        expect(read.map((row) => row.map((cell) => cell.replace(/^'(?=\s*=)/, "")))).toEqual([
          ["a", "b"],
          ...rows.map((row) => row.map((cell) => cell.replace(/^'(?=\s*=)/, ""))),
        ]);
      }),
    );
  });

  test("no text begins like a formula", () => {
    for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "\u200b=1"]) {
      expect(parse(`${csvCell(text)}\r\n`)[0]?.[0]).toBe(`'${text}`);
    }
    expect(csvCell(-5)).toBe("-5");
    expect(csvCell(null)).toBe("");
    expect(csvCell("a-b")).toBe("a-b");
  });
});

describe("mayFold", () => {
  test("is false for ordinary casts, true for many lines and for long ones", () => {
    expect(mayFold("gm")).toBe(false);
    expect(mayFold("a\n".repeat(11))).toBe(false);
    expect(mayFold("a\n".repeat(12))).toBe(true);
    expect(mayFold("字".repeat(400))).toBe(true);
  });
});
