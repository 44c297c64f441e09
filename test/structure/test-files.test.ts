import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const files = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)].filter(
  (file) => !file.includes("node_modules"),
);
const imports = (file: string, module: RegExp) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^import [^;]*? from "(\S+)";$/gm)].some(
    ([, path = ""]) => module.test(path),
  );

test("a test that has a long form is named so, as test:long finds it", () => {
  const isLong = (file: string) => file.endsWith(".long.test.ts");
  const hasForms = (file: string) => imports(file, /support\/long\.ts$/);
  expect(files.filter((file) => imports(file, /support\/long\.ts$/) && !isLong(file))).toEqual([]);
  expect(files.filter((file) => isLong(file) && !hasForms(file))).toEqual([]);
});

test("a test that starts the program or PostgreSQL is in a folder that test:fast leaves out", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [, ignored = ""] = /--path-ignore-patterns '([^']+)'/.exec(scripts["test:fast"]) ?? [];
  const isLeftOut = new Bun.Glob(ignored);
  const starters = files.filter((file) => imports(file, /(compiled-program|postgres\/server)\.ts$/));
  expect(starters.length).toBeGreaterThan(50);
  expect(starters.filter((file) => !isLeftOut.match(file))).toEqual([]);
});
