import { expect, test } from "bun:test";
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
