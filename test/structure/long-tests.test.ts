import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

test("test:long runs every test that has a long form", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const filters = (scripts["test:long"] as string).split(" ").filter((word) => word.startsWith("test/"));
  const missing = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)].filter(
    (file) =>
      readFileSync(join(root, file), "utf8").match(/^import .*support\/long\.ts"/m) &&
      !filters.some((filter) => file.startsWith(filter)),
  );
  expect(missing).toEqual([]);
});
