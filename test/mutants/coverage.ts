import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface TestRun {
  readonly file: string;
  readonly durationMs: number;
  /** Of each source file the lines that the test runs. Threads of their own do not count. */
  readonly lines: ReadonlyMap<string, ReadonlySet<number>>;
}

/** Runs one test file by itself, with coverage. Returns `undefined` for a test that fails or is skipped without any mutation. */
export async function runWithCoverage(root: string, file: string): Promise<TestRun | undefined> {
  const directory = join(root, "dist/mutants-coverage", file.replaceAll("/", "-"));
  const startedMs = performance.now();
  const { exitCode, stderr } = await testProcess(root, 120_000, [
    "--coverage",
    "--coverage-reporter=lcov",
    `--coverage-dir=${directory}`,
    file,
  ]);
  if (exitCode !== 0 || /^ 0 pass$/m.test(stderr)) return undefined;
  const lines = linesOf(readFileSync(join(directory, "lcov.info"), "utf8"));
  return { file, durationMs: performance.now() - startedMs, lines };
}

/** Runs `bun test` over the files until the first failure. Exit code 124 stands for a run that was ended at its time limit. */
export async function testProcess(
  root: string,
  timeoutMs: number,
  args: readonly string[],
): Promise<{ readonly exitCode: number; readonly stderr: string }> {
  const child = Bun.spawn([process.execPath, "test", "--bail", "--timeout", "30000", ...args], {
    cwd: root,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    env: { ...process.env, SVC_TEST_LONG: "" },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  const [stderr, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  clearTimeout(timer);
  return { exitCode: isLate ? 124 : exitCode, stderr };
}

function linesOf(lcov: string): Map<string, Set<number>> {
  const lines = new Map<string, Set<number>>();
  let current = new Set<number>();
  for (const row of lcov.split("\n")) {
    const [key, value = ""] = row.split(/:(.*)/);
    if (key === "SF") {
      current = new Set();
      lines.set(value, current);
    }
    if (key === "DA" && !value.endsWith(",0")) current.add(Number.parseInt(value, 10));
  }
  return lines;
}
