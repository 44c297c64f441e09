import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { compiled } from "./compiler.ts";
import { runWithCoverage, type TestRun, testProcess } from "./coverage.ts";
import { type Mutant, mutated, mutationsOf } from "./mutations.ts";

const ROOT = join(import.meta.dir, "../..");
const MIN_KILLED = 0.9;
/** CPU time of the tests that a survivor costs; those that are further away than this find little more. */
const MAX_TESTS_MS = 30_000;
/** CPU time of the tests of one process: the closest ones by themselves, then larger groups. A mutant that never ends costs little so. */
const GROUP_MS = [1500, 6000, MAX_TESTS_MS];

/** Where the tests of a folder are, beside the folder that mirrors it: patterns of the names of test files. */
const TESTS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  "src/protocol": ["ingest/**/*", "hub/**/*"],
  "src/auth": [
    "api/{api-keys,app-tokens,apps,audience,audit-of-records,hostile,send,signers,token-webhook,webhooks}",
    "api/compat/{keys,push,webhooks}",
    "api-keys/*",
    "console/{operator/*,private-routes}",
    "demo/acceptance",
    "push/tokens/*",
    "upstream/peers/confirm-owners",
  ],
  "src/ingest": [
    "hub/**/*",
    "import/**/*",
    "upstream/**/*",
    "trust/*",
    "model/*",
    "api/{registered-channels,trending}",
    "db/index/**/*",
  ],
  "src/net": ["webhooks/deliver/*", "push/*", "config/load", "previews/*", "notices/*", "sign-in/**/*"],
  "src/push": [
    "api/{app-tokens,audience,campaigns,saved-owners,schedules,send,token-webhook}",
    "api/compat/{notifications,push}",
  ],
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

const accepted: readonly Accepted[] = JSON.parse(
  readFileSync(join(import.meta.dir, "accepted.json"), "utf8"),
);
/** By test and source file: how many mutants the test has run with, and how many it has noticed. */
const records = new Map<string, { runs: number; kills: number }>();
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
  const valid = compiled(original, found);
  const mutants = sample(line === undefined ? valid : valid.filter((one) => `${lineOf(one)}` === line));
  const runs = await runsOf(testsOf(folder), files);
  console.log(
    `${folder}: ${mutants.length} of ${valid.length} mutants in ${files.length} files (the compiler refuses ${found.length - valid.length} more), ${runs.length} test files`,
  );
  const survivors: Survivor[] = [];
  let done = 0;
  await inParallel(mutants, async (mutant, copy) => {
    const survivor = await survives(mutant, runs, copy);
    if (survivor) survivors.push(survivor);
    done += 1;
    if (done % 20 === 0) console.log(`${done} done, ${survivors.length} of them survive`);
  });
  return report(mutants.length, survivors);
}

/** Returns the place of a mutant that none of the tests notices. */
async function survives(
  mutant: Mutant,
  runs: readonly TestRun[],
  copy: string,
): Promise<Survivor | undefined> {
  const { file, source, operator } = mutant;
  const lineNumber = lineOf(mutant);
  const line = source.split("\n")[lineNumber - 1]?.trim() ?? "";
  if (isAccepted({ file, line, operator })) return { file, line, operator };
  const tests = within(MAX_TESTS_MS, closestFirst(file, runs, lineNumber));
  writeFileSync(join(copy, file), mutated(source, mutant));
  try {
    let rest = tests;
    for (const groupMs of GROUP_MS) {
      const group = within(groupMs, rest);
      if (await isNoticed(file, group, copy)) return undefined;
      rest = rest.filter((test) => !group.includes(test));
    }
  } finally {
    writeFileSync(join(copy, file), source);
  }
  console.log(`${file}:${lineNumber} survives ${operator} (${tests.length} test files)\n  ${line}`);
  return { file, line, operator };
}

/**
 * The tests that run the line: first those that notice the most mutants of the file for their CPU time. The test that is named like the
 * file, and those beside it, count as if they had noticed some.
 */
function closestFirst(file: string, runs: readonly TestRun[], line: number): TestRun[] {
  const mirror = file.replace(/^src/, "test").replace(/\.ts$/, ".test.ts");
  const yieldOf = (run: TestRun) => {
    const { runs, kills } = recordOf(run.file, file);
    const expected = run.file === mirror ? 10 : dirname(run.file) === dirname(mirror) ? 3 : 1;
    return (kills + expected) / (runs + 2) / run.cpuMs;
  };
  return runs
    .filter(({ sources, file: test }) => sources[file]?.lines.includes(line) && mayRun(test, file))
    .sort((a, b) => yieldOf(b) - yieldOf(a));
}

/** The CPU time of PostgreSQL is not measured: its tests are for the sources that only they run. */
function mayRun(test: string, file: string): boolean {
  return file.includes("/postgres/") || !/support\/postgres/.test(readFileSync(join(original, test), "utf8"));
}

function recordOf(test: string, file: string): { runs: number; kills: number } {
  const key = `${test} ${file}`;
  const record = records.get(key) ?? { runs: 0, kills: 0 };
  records.set(key, record);
  return record;
}

/** The first of the tests and all that follow within the time. */
function within(maxMs: number, tests: readonly TestRun[]): TestRun[] {
  let totalMs = 0;
  return tests.filter(({ cpuMs }, index) => {
    if (index > 0 && totalMs + cpuMs > maxMs) return false;
    totalMs += cpuMs;
    return true;
  });
}

async function isNoticed(file: string, tests: readonly TestRun[], copy: string): Promise<boolean> {
  if (tests.length === 0) return false;
  const cpuMs = tests.reduce((sum, test) => sum + test.cpuMs, 0);
  const { exitCode, stderr } = await testProcess(
    copy,
    3 * cpuMs + 5000,
    tests.map((test) => test.file),
  );
  const started = [...stderr.matchAll(/^(test\/\S+\.test\.ts):$/gm)].map((match) => match[1] ?? "");
  for (const test of started) recordOf(test, file).runs += 1;
  const killer = started.at(-1);
  if (exitCode !== 0 && killer) recordOf(killer, file).kills += 1;
  return exitCode !== 0;
}

/** Whether `accepted.json` has a survivor, which then counts as one without any run. */
function isAccepted(survivor: Survivor): boolean {
  return accepted.some(
    ({ file, line, operator }) =>
      file === survivor.file && line === survivor.line && operator === survivor.operator,
  );
}

function report(count: number, survivors: readonly Survivor[]): number {
  const unknown = survivors.filter((survivor) => !isAccepted(survivor));
  const killed = count - survivors.length;
  if (count === 0) return 0;
  console.log(
    `${killed} of ${count} killed (${((100 * killed) / count).toFixed(1)} %), ${unknown.length} survivors without a reason`,
  );
  return unknown.length > 0 || killed < MIN_KILLED * count ? 1 : 0;
}

/** The sources of a folder, without generated code, types and the descriptions of metrics. */
function sourcesBelow(folder: string): string[] {
  return [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(original)].filter(
    (file) => !file.includes("/generate") && !/(\.d|\bmetrics)\.ts$/.test(file),
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
  const found = patterns.flatMap((pattern) => [
    ...new Bun.Glob(`test/${pattern}.test.ts`).scanSync(original),
  ]);
  // The tests of the long form are skipped here.
  return [...new Set(found)].filter((test) => !test.endsWith(".long.test.ts")).sort();
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
