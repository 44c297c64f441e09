import { expect, test } from "bun:test";
import { compiledProgram } from "../support/compiled-program.ts";

/** Runs the program through a shell with its output in a pipe. */
async function piped(reader: string): Promise<string> {
  const child = Bun.spawn(["sh", "-c", `"$@" openapi | (${reader})`, "sh", ...compiledProgram], {
    stdout: "pipe",
  });
  return (await new Response(child.stdout).text()).trim();
}

test("a long output reaches a reader that is slower than the program", async () => {
  // The reader takes nothing before it sees that the program has filled the pipe.
  const bytes = Number(await piped("head -c 1 >/dev/null; sleep 0.3; wc -c"));
  const { stdout } = Bun.spawnSync([...compiledProgram, "openapi"], { stdout: "pipe", maxBuffer: 2 ** 30 });
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(Math.abs(stdout.length - bytes)).toBeLessThanOrEqual(65_536);
  expect(() => JSON.parse(stdout.toString())).not.toThrow();
});

test("a reader that leaves ends the program, and nothing hangs", async () => {
  expect(await piped("head -c 10")).toBe('{\n  "opena'.trim());
});
