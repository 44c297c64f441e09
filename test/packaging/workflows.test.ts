import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

test("workflows name each action by the hash of a commit, with its version beside it", async () => {
  const uses: string[] = [];
  for await (const file of new Bun.Glob(".github/workflows/*.yml").scan({ cwd: ROOT, dot: true })) {
    const text = await Bun.file(join(ROOT, file)).text();
    uses.push(...[...text.matchAll(/\buses: (.+)$/gm)].map(([, action = ""]) => action));
  }
  expect(uses.length).toBeGreaterThan(8);
  expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});
