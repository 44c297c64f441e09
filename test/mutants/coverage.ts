import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TestRun {
  readonly file: string;
  readonly cpuMs: number;
  /** For each source file, the lines that the test runs, and the hash of the file. Threads of their own do not count. */
  readonly sources: Readonly<
    Record<string, { readonly hash: string; readonly lines: readonly number[] } | undefined>
  >;
}

/**
 * Runs one test file by itself, with coverage. A result in the folder `store` is used again until the test or a file of `mutated` changes.
 * Returns `undefined` for a test that fails or is skipped without any mutation.
 */
export async function runWithCoverage(
  root: string,
  test: string,
  store: string,
  mutated: readonly string[],
): Promise<TestRun | undefined> {
  const directory = join(store, test.replaceAll("/", "-"));
  const stored = join(directory, `${hashOf(root, test)}.json`);
  if (existsSync(stored)) {
    const run: TestRun = JSON.parse(readFileSync(stored, "utf8"));
    const isCurrent = (file: string) =>
      run.sources[file] === undefined || run.sources[file].hash === hashOf(root, file);
    if (mutated.every(isCurrent)) return run;
  }
  const args = [
    "--timeout",
    "120000",
    "--coverage",
    "--coverage-reporter=lcov",
    `--coverage-dir=${directory}`,
    test,
  ];
  const { exitCode, stderr, cpuMs } = await testProcess(root, 120_000, args);
  if (exitCode !== 0 || /^ 0 pass$/m.test(stderr)) return undefined;
  const sources = Object.entries(linesOf(readFileSync(join(directory, "lcov.info"), "utf8")))
    .filter(([file]) => file.startsWith("src/"))
    .map(([file, lines]) => [file, { hash: hashOf(root, file), lines }]);
  const run = { file: test, cpuMs, sources: Object.fromEntries(sources) };
  mkdirSync(directory, { recursive: true });
  writeFileSync(stored, JSON.stringify(run));
  return run;
}

/**
 * Runs `bun test` over the files until the first failure. A run that needs more CPU time than `maxCpuMs` fails; the time on the clock, which
 * depends on what else the machine does, only bounds a run that waits for ever.
 */
export async function testProcess(
  root: string,
  maxCpuMs: number,
  args: readonly string[],
): Promise<{ readonly exitCode: number; readonly stderr: string; readonly cpuMs: number }> {
  const limited = ["sh", "-c", `ulimit -t ${Math.ceil(maxCpuMs / 1000)}; exec "$@"`, "sh"];
  const child = Bun.spawn([...limited, process.execPath, "test", "--bail", "--timeout", "30000", ...args], {
    cwd: root,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    env: { ...process.env, SVC_TEST_LONG: "" },
    timeout: 20 * Math.ceil(maxCpuMs),
    killSignal: "SIGKILL",
  });
  const [stderr, exitCode] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000;
  return { exitCode, stderr, cpuMs };
}

function hashOf(root: string, file: string): string {
  return Bun.hash(readFileSync(join(root, file))).toString(36);
}

function linesOf(lcov: string): Record<string, number[]> {
  const lines: Record<string, number[]> = {};
  let current: number[] = [];
  for (const row of lcov.split("\n")) {
    const [key, value = ""] = row.split(/:(.*)/);
    if (key === "SF") {
      current = [];
      lines[value] = current;
    }
    if (key === "DA" && !value.endsWith(",0")) current.push(Number.parseInt(value, 10));
  }
  return lines;
}
