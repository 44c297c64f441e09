import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import accepted from "./accepted.json";
import { mutationsOf } from "./mutations.ts";

const results = (source: string) =>
  mutationsOf("a.ts", source).map(({ start, end, replacement }) =>
    (source.slice(0, start) + replacement + source.slice(end)).trim(),
  );

test.each([
  ["x = a <= b;", ["x = a < b;", "x = a > b;"]],
  ["x = a /* <= */ === b;", ["x = a /* <= */ !== b;"]],
  ["x = a && !b;", ["x = a || !b;", "x = a && b;"]],
  ["x = a ?? b;", ["x = a;"]],
  ["if (a) b = 1;", ["if (true) b = 1;", "if (false) b = 1;"]],
  ["x = Math.min(a, 1) + 2;", ["x = Math.max(a, 1) + 2;", "x = Math.min(a, 1) - 2;"]],
  ["x = true;", ["x = false;"]],
  ["await set.add(a);", [";"]],
])("%s has these mutants", (source, expected) => {
  expect(results(source).toSorted()).toEqual(expected.toSorted());
});

test.each([
  "x = `a` + b;",
  "log.info(a);",
  "this.#stats.count(a);",
  'type X = "a" | "b";',
  "x = a as 1 | 2;",
])("%s has none", (source) => expect(results(source)).toEqual([]));

test("each accepted survivor is a mutant of a line that is still there, and has a reason", () => {
  for (const { file, line, operator, reason } of accepted) {
    const source = readFileSync(join(import.meta.dir, "../..", file), "utf8");
    const lineAt = (start: number) =>
      source.split("\n")[source.slice(0, start).split("\n").length - 1]?.trim();
    const isThere = mutationsOf(file, source).some(
      (mutation) => mutation.operator === operator && lineAt(mutation.start) === line,
    );
    expect([file, line, operator, isThere]).toEqual([file, line, operator, true]);
    expect(reason).toMatch(/^.{10,120}\.$/);
  }
  expect(new Set(accepted.map((one) => JSON.stringify(one))).size).toBe(accepted.length);
});
