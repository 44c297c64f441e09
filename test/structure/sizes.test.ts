import { expect, test } from "bun:test";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const MAX_FILES = 12;

/** Folders beyond the limit, each with its reason. The list may only get shorter. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/node/workers": "an entry file for each thread: a compiled program finds them by this path",
};

const files = [...new Bun.Glob("src/**/*").scanSync(ROOT)].filter(
  (file) => !file.includes("/generated/") && !file.endsWith("/openapi-examples.json"),
);

test(`a folder of src has at most ${MAX_FILES} files`, () => {
  const folders = Object.entries(Object.groupBy(files, (file) => dirname(file)));
  const full = folders.filter(([folder, of = []]) => of.length > MAX_FILES && !(folder in EXCEPTIONS));
  expect(full.map(([folder, of = []]) => `${folder}: ${of.length}`)).toEqual([]);
});
