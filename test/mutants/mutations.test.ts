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
  [
    "if (a.b()) await set.add(a);",
    ["if (true) await set.add(a);", "if (false) await set.add(a);", "if (a.b()) {}"],
  ],
  ["x = a ?? (b || c);", ["x = a;", "x = a ?? (b && c);"]],
])("%s has these mutants", (source, expected) => {
  expect(results(source).toSorted()).toEqual(expected.toSorted());
});

test.each([
  "x = `a` + b;",
  "x = a.toString();",
  "log.info(a && b);",
  "logFault(cause, { id: a ?? 0 }, b);",
  "deps.onFault(cause);",
  "this.#stats.count(a);",
  "stats.calls += 1;",
  "throw new Error(texts[a - b]);",
  'type X = "a" | "b";',
  "x = a as 1 | 2;",
])("%s has none", (source) => expect(results(source)).toEqual([]));

test("each accepted survivor is a mutant of a line that is still there, and has a reason", () => {
  for (const [file, survivors] of Map.groupBy(accepted, (one) => one.file)) {
    const source = readFileSync(join(import.meta.dir, "../..", file), "utf8");
    const lineAt = (start: number) =>
      source.split("\n")[source.slice(0, start).split("\n").length - 1]?.trim();
    const mutants = mutationsOf(file, source).map(({ operator, start }) => `${operator}: ${lineAt(start)}`);
    for (const { line, operator, reason } of survivors) {
      expect(mutants).toContain(`${operator}: ${line}`);
      expect(reason).toMatch(/^.{10,120}\.$/);
    }
  }
  expect(new Set(accepted.map((one) => JSON.stringify(one))).size).toBe(accepted.length);
});
