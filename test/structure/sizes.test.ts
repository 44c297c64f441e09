import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const MAX_LINES = 300;
const MAX_FILES = 12;

/** Files and folders beyond the limits, each with its reason. The list may only get shorter. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/config/defaults.toml": "the documentation of every setting, as `svc config defaults` prints it",
  "src/config/schema.ts": "every setting, in the order of the documentation",
  "src/protocol/wire/message.proto": "the definition of the network's messages",
  "src/node/workers": "an entry file for each thread: a compiled program finds them by this path",
};

const files = [...new Bun.Glob("src/**/*").scanSync(ROOT)].filter(
  (file) => !file.includes("/generated/") && !file.endsWith("/openapi-examples.json"),
);

test(`a file of src has at most ${MAX_LINES} lines`, () => {
  const lines = (file: string) => readFileSync(join(ROOT, file), "utf8").split("\n").length - 1;
  const long = files.filter((file) => lines(file) > MAX_LINES && !(file in EXCEPTIONS));
  expect(long.map((file) => `${file}: ${lines(file)}`)).toEqual([]);
});

test(`a folder of src has at most ${MAX_FILES} files`, () => {
  const folders = Object.entries(Object.groupBy(files, (file) => dirname(file)));
  const full = folders.filter(([folder, of = []]) => of.length > MAX_FILES && !(folder in EXCEPTIONS));
  expect(full.map(([folder, of = []]) => `${folder}: ${of.length}`)).toEqual([]);
});
