import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { runWithCoverage, type TestRun, testProcess } from "./coverage.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";

const ROOT = join(import.meta.dir, "../..");
const MIN_KILLED = 0.9;
/** CPU time of the tests that a survivor costs; those that are further away than this find little more. */
const MAX_TESTS_MS = 12_000;

/** Where the tests of a folder are, beside the folder that mirrors it: patterns of the names of test files. */
const TESTS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  "src/protocol": ["ingest/**/*", "hub/**/*"],
  "src/auth": [
    "api/{api-keys,app-tokens,apps,audit-of-records,hostile,send,signers,token-webhook,webhooks}",
    "api/compat/{keys,push,webhooks}",
    "api-keys/*",
    "console/{operator/*,private-routes}",
    "demo/acceptance",
    "push/tokens/*",
  ],
  "src/ingest": ["hub/**/*", "import/**/*", "upstream/**/*", "model/*", "api/trending", "db/index/bulk/*"],
  "src/net": ["webhooks/deliver/*", "push/*", "config/load"],
  "src/push": ["api/{app-tokens,audience,campaigns,send,token-webhook}", "api/compat/{notifications,push}"],
  "src/webhooks": ["api/webhook*", "webhooks/store/sqlite/*", "cli/listen", "http/ops"],
  "src/admission": [
    "http/{body-*,cpu-charge,prices,slow-client}",
    "api/compat/*limits",
    "auth/signed-shares",
    "hub/clients",
    "stream/limits",
  ],
  "src/http": ["http/*", "api/{first-reads,route-cache,v1/v1}", "api/compat/*limits", "api-keys/*"],
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
if (positionals.length === 0) {
  console.error(
    "usage: bun run test:mutants <folders, files or file:line of src> [--sample <count>] [--seed <n>] [--jobs <n>]",
  );
  process.exit(2);
}

/** How many mutants each test file has noticed. */
const kills = new Map<string, number>();
const copies = Array.from({ length: Number(values.jobs) }, copyOfProject);
/** Where files are found and read, so that the project may be edited during the run. */
const [original = ROOT] = copies;
try {
  const codes: number[] = [];
  for (const place of positionals) {
    const [folder = "", line] = place.replace(/\/$/, "").split(":");
    codes.push(await testMutants(folder, line));
  }
  process.exitCode = Math.max(...codes);
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
}

async function testMutants(folder: string, line: string | undefined): Promise<number> {
  const files = folder.endsWith(".ts") ? [folder] : sourcesBelow(folder);
  const found = files.flatMap(mutantsOf);
  const mutants = sample(line === undefined ? found : found.filter((mutant) => `${lineOf(mutant)}` === line));
  const runs = await runsOf(testsOf(folder), files);
  console.log(`${folder}: ${mutants.length} mutants in ${files.length} files, ${runs.length} test files`);
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
  const lineNumber = lineOf(mutant);
  const covering = runs.filter(({ sources }) => sources[file]?.lines.includes(lineNumber));
  // Tests that have noticed other mutants come first, then the cheap ones.
  const order = covering.sort(
    (a, b) => (kills.get(b.file) ?? 0) - (kills.get(a.file) ?? 0) || a.cpuMs - b.cpuMs,
  );
  const tests: string[] = [];
  let totalMs = 0;
  for (const { file: test, cpuMs } of order) {
    if (tests.length > 0 && totalMs + cpuMs > MAX_TESTS_MS) continue;
    tests.push(test);
    totalMs += cpuMs;
  }
  if (tests.length > 0) {
    writeFileSync(join(copy, file), source.slice(0, start) + replacement + source.slice(end));
    const { exitCode, stderr } = await testProcess(copy, 10 * totalMs + 20_000, tests);
    writeFileSync(join(copy, file), source);
    if (exitCode !== 0) {
      const [killer] = [...stderr.matchAll(/^(test\/\S+\.test\.ts):$/gm)].at(-1)?.slice(1) ?? [];
      if (killer) kills.set(killer, (kills.get(killer) ?? 0) + 1);
      return undefined;
    }
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
  if (count === 0) return 0;
  console.log(
    `${killed} of ${count} killed (${((100 * killed) / count).toFixed(1)} %), ${unknown.length} survivors without a reason`,
  );
  return unknown.length > 0 || killed < MIN_KILLED * count ? 1 : 0;
}

function sourcesBelow(folder: string): string[] {
  return [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(original)].filter(
    (file) => !file.includes("/generate") && !file.endsWith(".d.ts"),
  );
}

function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(join(original, file), "utf8");
  return mutationsOf(file, source).map((mutation) => ({ ...mutation, file, source }));
}

function lineOf({ source, start }: Mutant): number {
  return source.slice(0, start).split("\n").length;
}

function testsOf(folder: string): string[] {
  const mirror = folder.replace(/\/[^/]*\.ts$/, "").replace(/^src\//, "");
  const room = Object.keys(TESTS_ELSEWHERE).find((name) => folder.startsWith(name));
  const patterns = [`${mirror}/**/*`, ...(room ? (TESTS_ELSEWHERE[room] ?? []) : [])];
  const found = patterns.flatMap((pattern) => [...new Bun.Glob(`test/${pattern}.test.ts`).scanSync(ROOT)]);
  return [...new Set(found)].sort();
}

/** The test files that run any line of the sources. */
async function runsOf(tests: readonly string[], files: readonly string[]): Promise<TestRun[]> {
  const runs: TestRun[] = [];
  await inParallel(tests, async (test, copy) => {
    const run = await runWithCoverage(copy, test, join(ROOT, "dist/mutants-coverage"), files);
    if (!run) console.log(`${test} does not pass by itself: not used`);
    else if (files.some((file) => run.sources[file])) runs.push(run);
  });
  return runs;
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
