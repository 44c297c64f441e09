import { expect, test } from "bun:test";
import { join } from "node:path";

test("the migrations of each database lead to the tables that are declared", async () => {
  const process = Bun.spawn([globalThis.process.execPath, "drizzle/generate.ts", "--check"], {
    cwd: join(import.meta.dir, "../../.."),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, exitCode] = await Promise.all([
    process.stdout.text(),
    process.stderr.text(),
    process.exited,
  ]);
  expect({ err, exitCode }).toEqual({ err: "", exitCode: 0 });
  expect(out.trim().split("\n")).toEqual(["index: no change", "state: no change", "postgres: no change"]);
});
