import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { runWithCoverage, type TestRun, testProcess } from "./coverage.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";

const ROOT = join(import.meta.dir, "../..");
const MIN_KILLED = 0.9;
/** A survivor costs all its tests; those that are further away than this find little more. */
const MAX_TESTS_MS = 60_000;

/** Where the tests of a folder are, beside the folder that mirrors it: folders, or patterns of names of files. */
const TESTS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  "src/protocol": ["test/ingest", "test/hub"],
  "src/auth": ["test/api/*", "test/api-keys", "test/sessions", "test/push/tokens", "test/db/state"],
  "src/ingest": ["test/hub", "test/upstream", "test/model", "test/import"],
  "src/webhooks/deliver": ["test/webhooks/store"],
  "src/http": ["test/api/*", "test/api/compat/*limits", "test/api-keys", "test/hub/reads"],
};

interface Survivor {
  readonly file: string;
  /** The line of the source without its indentation, which names the place while lines move. */
  readonly line: string;
  readonly operator: string;
}

/** `test/mutants/accepted.json`: survivors that no test should notice, each with the reason. */
interface Accepted extends Survivor {
  readonly reason: string;
}

interface Mutant extends Mutation {
  readonly file: string;
  readonly source: string;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
  },
});
const folder = positionals[0]?.replace(/\/$/, "");
if (!folder) {
  console.error(
    "usage: bun run test:mutants <folder or file of src> [--sample <count>] [--seed <n>] [--jobs <n>]",
  );
  process.exit(2);
}

const copies = Array.from({ length: Number(values.jobs) }, copyOfProject);
try {
  process.exitCode = await testMutants(folder);
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}

async function testMutants(folder: string): Promise<number> {
  const files = folder.endsWith(".ts") ? [folder] : sourcesBelow(folder);
  const mutants = sample(files.flatMap(mutantsOf));
  const runs = await runsOf(testsOf(folder), new Set(files));
  console.log(`${mutants.length} mutants in ${files.length} files, ${runs.length} test files`);
  const survivors: Survivor[] = [];
  await inParallel(mutants, async (mutant, copy) => {
    const survivor = await survives(mutant, runs, copy);
    if (survivor) survivors.push(survivor);
  });
  return report(mutants.length, survivors);
}

/** Returns the place of a mutant that none of the tests notices. */
async function survives(
  mutant: Mutant,
  runs: readonly TestRun[],
  copy: string,
): Promise<Survivor | undefined> {
  const { file, source, start, end, operator, replacement } = mutant;
  const lineNumber = source.slice(0, start).split("\n").length;
  const covering = runs.filter(({ lines }) => lines.get(file)?.has(lineNumber));
  const tests: string[] = [];
  let totalMs = 0;
  for (const { file: test, durationMs } of covering) {
    if (tests.length > 0 && totalMs + durationMs > MAX_TESTS_MS) break;
    tests.push(test);
    totalMs += durationMs;
  }
  if (tests.length > 0) {
    writeFileSync(join(copy, file), source.slice(0, start) + replacement + source.slice(end));
    const { exitCode } = await testProcess(copy, 5 * totalMs + 20_000, tests);
    writeFileSync(join(copy, file), source);
    if (exitCode !== 0) return undefined;
  }
  const line = source.split("\n")[lineNumber - 1]?.trim() ?? "";
  console.log(`${file}:${lineNumber} survives ${operator} (${tests.length} test files)\n  ${line}`);
  return { file, line, operator };
}

function report(count: number, survivors: readonly Survivor[]): number {
  const accepted: readonly Accepted[] = JSON.parse(
    readFileSync(join(import.meta.dir, "accepted.json"), "utf8"),
  );
  const unknown = survivors.filter(
    (survivor) =>
      !accepted.some(
        ({ file, line, operator }) =>
          file === survivor.file && line === survivor.line && operator === survivor.operator,
      ),
  );
  const killed = count - survivors.length;
  console.log(
    `${killed} of ${count} killed (${((100 * killed) / count).toFixed(1)} %), ${unknown.length} survivors without a reason`,
  );
  return unknown.length > 0 || killed < MIN_KILLED * count ? 1 : 0;
}

function sourcesBelow(folder: string): string[] {
  return [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(ROOT)].filter(
    (file) => !file.includes("/generated/") && !file.endsWith(".d.ts"),
  );
}

function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  return mutationsOf(file, source).map((mutation) => ({ ...mutation, file, source }));
}

function testsOf(folder: string): string[] {
  const mirror = folder.replace(/\/[^/]*\.ts$/, "").replace(/^src/, "test");
  const room = Object.keys(TESTS_ELSEWHERE).find((name) => folder.startsWith(name));
  const places = [mirror, ...(room ? (TESTS_ELSEWHERE[room] ?? []) : [])];
  return [
    ...new Set(
      places.flatMap((place) => {
        const pattern = place.includes("*") ? `${place}.test.ts` : `${place}/**/*.test.ts`;
        return [...new Bun.Glob(pattern).scanSync(ROOT)].sort();
      }),
    ),
  ];
}

/** The test files that run any line of the sources, the quickest first. */
async function runsOf(tests: readonly string[], files: ReadonlySet<string>): Promise<TestRun[]> {
  const runs: TestRun[] = [];
  await inParallel(tests, async (test, copy) => {
    const run = await runWithCoverage(copy, test);
    if (!run) console.log(`${test} does not pass by itself: not used`);
    else if ([...run.lines.keys()].some((file) => files.has(file))) runs.push(run);
  });
  return runs.sort((a, b) => a.durationMs - b.durationMs);
}

/** A seeded choice, so that a run can be repeated. */
function sample(mutants: Mutant[]): Mutant[] {
  if (values.sample === undefined) return mutants;
  const rank = ({ file, start, operator }: Mutant) =>
    Bun.hash(`${values.seed} ${file} ${start} ${operator}`) as bigint;
  return mutants.sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, Number(values.sample));
}

async function inParallel<T>(items: readonly T[], work: (item: T, copy: string) => Promise<void>) {
  const queue = [...items];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, copy);
    }),
  );
}

/** A mutant is written into a copy of the tracked files, never into the project. */
function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "svc-mutants-"));
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: ROOT });
  for (const file of stdout.toString().split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}
