import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { writeRecords } from "../src/import/write-records.ts";
import { tempDir } from "../test/support/program.ts";
import { backfillSet, firstMessages, recordsOf } from "./backfill-set.ts";
import { bareVerifyRate } from "./bare-ingest.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const ROOT = join(import.meta.dir, "..");
/** A checkout that imports row by row on one thread, such as the last version with an earlier index format. */
const FORMER = process.env.BENCH_FORMER;
const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const SAMPLE = 20_000;
const CORES = availableParallelism();
const SAMPLE_INTERVAL_MS = 5;

interface ImportRun {
  readonly secs: number;
  /** CPU time of the thread that writes the index, in seconds. */
  readonly writerSecs: number;
  /** CPU time of the verifier threads, in seconds. */
  readonly verifierSecs: number;
  /** CPU time of the process, in seconds. */
  readonly cpuSecs: number;
}

/**
 * Measures the import of a file into an empty index, alternately with an earlier version. Other work on the machine makes
 * wall times incomparable, so CPU times are measured by thread. Requires Linux.
 */
export async function benchImport(): Promise<Figure[]> {
  const set = await backfillSet(Number(process.env.BENCH_MESSAGES ?? 200_000));
  const sample = await firstMessages(set, SAMPLE);
  using dir = tempDir();
  const file = join(dir.path, "records");
  const { records } = await writeRecords(file, recordsOf(set));
  const bare: number[] = [];
  const runs: ImportRun[] = [];
  const former: ImportRun[] = [];
  for (let run = 0; run < RUNS; run++) {
    const before = process.cpuUsage();
    bareVerifyRate(sample);
    const { user, system } = process.cpuUsage(before);
    bare.push((user + system) / SAMPLE);
    if (FORMER) former.push(await importFile(FORMER, file, join(dir.path, `former-${run}`)));
    runs.push(await importFile(ROOT, file, join(dir.path, `now-${run}`)));
  }
  const bareMicros = median(bare);
  const figuresOf = (name: string, of: readonly ImportRun[], baseline?: readonly ImportRun[]): Figure[] =>
    MEASURES.map(({ what, secsOf }) => {
      const micros = median(of.map((run) => (secsOf(run) / records) * 1e6));
      const base = baseline && median(baseline.map((run) => (secsOf(run) / records) * 1e6));
      const ratio = base
        ? { of: "the former import", value: micros / base }
        : { of: "bare verification", value: micros / bareMicros };
      return { what: `${name}${what}`, value: micros, unit: "µs a record", ratio };
    });
  return [
    { what: `bare verification, CPU, median of ${RUNS}`, value: bareMicros, unit: "µs a message" },
    ...figuresOf("former import: ", former).slice(0, former.length > 0 ? MEASURES.length : 0),
    ...figuresOf("import: ", runs, former.length > 0 ? former : undefined),
  ];
}

const MEASURES: readonly { what: string; secsOf: (run: ImportRun) => number }[] = [
  { what: "wall", secsOf: ({ secs }) => secs },
  { what: "CPU of the writer", secsOf: ({ writerSecs }) => writerSecs },
  { what: "CPU of the verifier threads", secsOf: ({ verifierSecs }) => verifierSecs },
  { what: "CPU of the process", secsOf: ({ cpuSecs }) => cpuSecs },
  {
    what: `at least, on ${CORES} free cores`,
    secsOf: ({ writerSecs, verifierSecs, cpuSecs }) =>
      Math.max(writerSecs, verifierSecs === 0 ? 0 : cpuSecs / CORES),
  },
];

async function importFile(checkout: string, file: string, dataDir: string): Promise<ImportRun> {
  const startedAt = performance.now();
  const child = Bun.spawn(
    [process.execPath, join(checkout, "src/main.ts"), "--data-dir", dataDir, "import", file],
    {
      stdout: "ignore",
      stderr: "pipe",
    },
  );
  const threads = new Map<string, { name: string; secs: number }>();
  const sampling = setInterval(() => sampleThreads(child.pid, threads), SAMPLE_INTERVAL_MS);
  const code = await child.exited;
  clearInterval(sampling);
  if (code !== 0) throw new Error(await new Response(child.stderr).text());
  const { user, system } = child.resourceUsage()?.cpuTime ?? { user: 0, system: 0 };
  const verifiers = [...threads.values()].filter(({ name }) => name === "verifier");
  return {
    secs: (performance.now() - startedAt) / 1000,
    writerSecs: threads.get(String(child.pid))?.secs ?? 0,
    verifierSecs: verifiers.reduce((sum, { secs }) => sum + secs, 0),
    cpuSecs: (Number(user) + Number(system)) / 1e6,
  };
}

/** Records the CPU time of each thread of a process. For a thread that has ended, the last sample is kept. */
function sampleThreads(pid: number, threads: Map<string, { name: string; secs: number }>): void {
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const dir = `/proc/${pid}/task/${thread}`;
      const name = readFileSync(`${dir}/comm`, "utf8").trim();
      const nanos = Number(readFileSync(`${dir}/schedstat`, "utf8").split(" ")[0]);
      threads.set(thread, { name, secs: nanos / 1e9 });
    }
  } catch {
    // The process or the thread has just ended.
  }
}
