import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");
const files = [...new Bun.Glob("test/**/*.test.ts").scanSync(root)].filter(
  (file) => !file.includes("node_modules"),
);
const importsOf = new Map<string, readonly string[]>();

/** What a file imports when it runs; its own files from the root. */
function importedBy(file: string): readonly string[] {
  return importsOf.getOrInsertComputed(file, () =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^import (?!type )[^;]*? from "(\S+)";$/gm)].map(
      ([, path = ""]) => (path.startsWith(".") ? join(dirname(file), path) : path),
    ),
  );
}

const imports = (file: string, module: RegExp) => importedBy(file).some((path) => module.test(path));

/** What a test runs of the tests' own files, by itself or through others. */
function reachedBy(file: string, reached = new Set<string>()): ReadonlySet<string> {
  for (const path of importedBy(file)) {
    if (!path.startsWith("test/") || reached.has(path)) continue;
    reached.add(path);
    if (path.endsWith(".ts")) reachedBy(path, reached);
  }
  return reached;
}

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
  const isStarted = (path: string) => /(compiled-program|postgres\/server)\.ts$/.test(path);
  const starters = files.filter((file) => reachedBy(file).values().some(isStarted));
  expect(starters.length).toBeGreaterThan(50);
  expect(starters.filter((file) => !isLeftOut.match(file))).toEqual([]);
});
