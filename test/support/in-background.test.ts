import { expect, test } from "bun:test";
import { join } from "node:path";
import { tempDir } from "./program.ts";

const fixture = `
import { test } from "bun:test";
import { inBackground } from ${JSON.stringify(join(import.meta.dir, "in-background.ts"))};
const pids: number[] = [];
const program = ["sh", "-c", "echo $$; exec sleep 30"];
async function start(command: string[]) {
  const child = Bun.spawn(command, { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  pids.push(Number(new TextDecoder().decode(value)));
}
test("runs out of time", async () => {
  await start(program);
  await start(inBackground(program));
  await new Promise(() => {});
}, 1_000);
test("the next one", () => {
  process.kill(pids[1] ?? 0);
});
`;

test("what tests share outlives a test that runs out of time; what it has started by itself does not", async () => {
  using dir = tempDir();
  await Bun.write(join(dir.path, "fixture.test.ts"), fixture);
  const child = Bun.spawn([process.execPath, "test", "./fixture.test.ts"], {
    cwd: dir.path,
    stdout: "ignore",
    stderr: "pipe",
  });
  const output = await new Response(child.stderr).text();
  expect(output.match(/^\((?:pass|fail)\)[a-z ]+|^killed.*/gm)?.map((line) => line.trim())).toEqual([
    "killed 1 dangling process",
    "(fail) runs out of time",
    "(pass) the next one",
  ]);
});
