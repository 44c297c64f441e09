import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** Syntax that CONTRIBUTING.md excludes, and macros (see `embeddingFiles` in build.ts). */
const BANNED: Readonly<Record<string, RegExp>> = {
  "an enum": /^(export )?(declare )?(const )?enum \w/m,
  "a private member without #": /^\s+(private|protected) (?!constructor\b)/m,
  "a default export": /^export default /m,
  "a barrel": /^export \* from /m,
  "a macro": /with \{ type: "macro" *\}/,
};

test("src, test and bench have no enums, private keywords, default exports, barrels or macros", async () => {
  const found: string[] = [];
  for await (const path of new Bun.Glob("{src,test,bench}/**/*.{ts,tsx}").scan(ROOT)) {
    if (/\/generated\/|\/node_modules\/|\.d\.ts$/.test(path)) continue;
    const text = await Bun.file(join(ROOT, path)).text();
    for (const [what, pattern] of Object.entries(BANNED))
      if (pattern.test(text)) found.push(`${path}: ${what}`);
  }
  expect(found).toEqual([]);
});
