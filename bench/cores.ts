import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defaultWorkers } from "../src/config/http-workers.ts";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import { startUpstream } from "./backfill.ts";
import { drawFrom } from "./draw.ts";
import { GOAL_READS } from "./goals.ts";
import type { Figure } from "./main.ts";
import { matchingOf } from "./match.ts";
import { benchNetwork } from "./network.ts";
import { distinctRequest, timeOf } from "./reads.ts";
import { median } from "./start.ts";
import { threadsOf } from "./threads.ts";

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 200_000);
const RUNS = Number(process.env.BENCH_RUNS ?? 3);
/** The sets of cores to measure, as far as the machine has them. */
const MEASURED = [1, 2].filter((cores) => cores <= availableParallelism());
const MODELLED = [4, 8, 16];
const VERIFIED_FIDS = 500;
const SUBSCRIPTIONS = 10_000;
const READS_OF = ["/user", "/feed/user/casts of 25", "/notifications of 25"];
const REQUESTS = 6_000;
const IN_FLIGHT = 16;
const LOOK_MS = 50;
const SHOWN_SHARE = 0.03;

/**
 * Kinds of threads that divide their work, with their number on a node with a given number of cores. Every other kind is a
 * single thread.
 */
const DIVIDED: Readonly<Record<string, (cores: number) => number>> = {
  verifier: (cores) => Math.min(cores, 16),
  http: defaultWorkers,
  "compilers and collectors": (cores) => cores,
};
const HELPERS = /JIT|Heap|ollector|scavenger|WarmUp|Bun Pool/;

/** CPU time of the threads by name, in milliseconds. */
type CpuOfThreads = ReadonlyMap<string, number>;

/** Work that is finished before the next phase starts. */
interface Phase {
  readonly units: number;
  readonly secs: number;
  readonly cpuMs: CpuOfThreads;
}

interface Job {
  readonly name: string;
  readonly unit: string;
  readonly phases: readonly string[];
  /** Does the work on some cores of the machine. */
  run(cores: string): Promise<readonly Phase[]>;
}

/**
 * Measures filling, verification, matching and reads on sets of 1 and 2 cores, by the CPU time of each thread, which does
 * not depend on other work on the machine. From that it computes the results for 4, 8 and 16 cores, and which thread is the
 * bottleneck: a phase takes as long as its busiest thread, or as all threads together on all cores. Requires Linux with
 * `taskset`.
 */
export async function benchCores(): Promise<Figure[]> {
  using dir = tempDir();
  const figures: Figure[] = [];
  await using upstream = await startUpstream({ dir: String(MESSAGES) }, { snapshots: "yes", names: "no" });
  for (const job of await jobs(dir.path, upstream.address)) {
    const runs = new Map(MEASURED.map((cores) => [cores, [] as (readonly Phase[])[]]));
    for (let run = 0; run < RUNS; run++)
      for (const cores of MEASURED) runs.get(cores)?.push(await job.run(coreList(cores)));
    figures.push(...figuresOf(job, runs));
  }
  return figures;
}

function coreList(cores: number): string {
  return Array.from({ length: cores }, (_, core) => core).join(",");
}

function figuresOf(job: Job, runs: ReadonlyMap<number, readonly (readonly Phase[])[]>): Figure[] {
  const measured = (cores: number) => runs.get(cores) ?? [];
  const costsOn = (cores: number) =>
    job.phases.map((_, at) => costsOf(measured(cores).map((run) => run[at])));
  const most = MEASURED.at(-1) ?? 1;
  const costs = costsOn(most);
  const rate = (model: Model) => 1e6 / model.us;
  const name = (phase: number) => [job.name, job.phases[phase]].filter(Boolean).join(", ");
  const base = modelOf(job, costs, most);
  return [
    ...costs.flatMap((phase, at) => {
      const all = [...phase.values()].reduce((sum, us) => sum + us, 0);
      return [...phase]
        .filter(([, us]) => us > SHOWN_SHARE * all)
        .sort(([, a], [, b]) => b - a)
        .map(([thread, us]) => ({
          what: `${name(at)}: ${thread}`,
          value: us,
          unit: `us of CPU a ${job.unit}`,
        }));
    }),
    ...MEASURED.map((cores) => {
      const model = modelOf(job, costsOn(cores), cores);
      const seen = median(
        measured(cores).map((run) => 1 / run.reduce((sum, { secs, units }) => sum + secs / units, 0)),
      );
      return {
        what: `${job.name} on ${cores}, ended by ${model.endedBy}`,
        value: rate(model),
        unit: `${job.unit}s/s`,
        ratio: { of: "it was measured", value: seen / rate(model) },
      };
    }),
    ...MODELLED.map((cores) => {
      const model = modelOf(job, costs, cores);
      return {
        what: `${job.name} on ${cores}, ended by ${model.endedBy}`,
        value: rate(model),
        unit: `${job.unit}s/s`,
        ratio: { of: `${most}`, value: base.us / model.us },
      };
    }),
  ];
}

/** Returns the microseconds per unit by thread name, the median of some runs. */
function costsOf(runs: readonly (Phase | undefined)[]): CpuOfThreads {
  const names = new Set(runs.flatMap((run) => [...(run?.cpuMs.keys() ?? [])]));
  const usOf = (run: Phase | undefined, name: string) =>
    run ? ((run.cpuMs.get(name) ?? 0) * 1000) / run.units : 0;
  return new Map([...names].map((name) => [name, median(runs.map((run) => usOf(run, name)))]));
}

interface Model {
  /** Time per unit. */
  readonly us: number;
  readonly endedBy: string;
}

function modelOf(job: Job, phases: readonly CpuOfThreads[], cores: number): Model {
  const ends = phases.map((threads, at) => {
    const all = [...threads.values()].reduce((sum, us) => sum + us, 0);
    const bounds = [...threads].map(([name, us]) => ({
      name: [name, job.phases[at]].filter(Boolean).join(", "),
      us: us / (DIVIDED[name]?.(cores) ?? 1),
    }));
    return [{ name: "the cores", us: all / cores }, ...bounds].reduce((a, b) => (b.us > a.us ? b : a));
  });
  const longest = ends.reduce((a, b) => (b.us > a.us ? b : a));
  return { us: ends.reduce((sum, { us }) => sum + us, 0), endedBy: longest.name };
}

async function jobs(dir: string, upstream: string): Promise<Job[]> {
  const svc = await compileInto(DIST);
  const network = benchNetwork(MESSAGES);
  let filled = "";
  const follow = ["--set", `upstream.url=http://${upstream}`, "--set", "trust.level=node"];
  let fills = 0;
  const fill = async (cores: string): Promise<Phase[]> => {
    filled = join(dir, `filled-${fills++}`);
    return await fillPhases(["taskset", "-c", cores, svc], filled, [
      ...follow,
      "--set",
      "upstream.concurrency=4",
    ]);
  };
  return [
    { name: "filling", unit: "message", phases: ["received", "built"], run: fill },
    {
      name: "svc verify",
      unit: "fid",
      phases: [""],
      async run(cores) {
        const args = [...follow, "--data-dir", filled, "verify", "--sample", String(VERIFIED_FIDS)];
        return [await commandPhase(["taskset", "-c", cores, svc, ...args], VERIFIED_FIDS)];
      },
    },
    { name: "matching", unit: "cast", phases: [""], run: matchPhases },
    {
      name: "reads",
      unit: "request",
      phases: [""],
      async run(cores) {
        await using node = await startNode({
          command: ["taskset", "-c", cores, svc],
          dataDir: network.dataDir,
        });
        const draw = drawFrom(network);
        const paths = GOAL_READS.filter(({ name }) => READS_OF.includes(name)).map(({ path }) => path);
        const send = async (count: number) => {
          let at = 0;
          const one = async () => {
            while (at++ < count)
              await timeOf(node.url, distinctRequest((paths[at % paths.length] ?? (() => ""))(draw)));
          };
          await Promise.all(Array.from({ length: IN_FLIGHT }, one));
        };
        await send(REQUESTS / 2);
        const watch = new Watch(node.pid);
        await send(REQUESTS);
        return [watch.phase(REQUESTS)];
      },
    },
  ];
}

/** Fills an index until its node is ready: first receiving, then the build. */
async function fillPhases(
  command: readonly string[],
  dataDir: string,
  args: readonly string[],
): Promise<Phase[]> {
  await using node = await startNode({ command, dataDir, args });
  const watch = new Watch(node.pid);
  const received: Phase[] = [];
  for (;;) {
    const ready = await fetch(`${node.url}/ready`);
    watch.look();
    if (ready.status === 200) break;
    if (received.length === 0 && (await ready.text()).includes("building the index"))
      received.push(watch.phase(1));
    await Bun.sleep(LOOK_MS);
  }
  const built = watch.phase(1);
  const { index } = (await (await fetch(`${node.url}/status`)).json()) as {
    index: { rows: { messages?: number } };
  };
  return [...received, built].map((phase) => ({ ...phase, units: index.rows.messages ?? 0 }));
}

async function commandPhase(command: readonly string[], units: number): Promise<Phase> {
  const child = Bun.spawn([...command], { env: {}, stdout: "ignore", stderr: "inherit" });
  const watch = new Watch(child.pid);
  const looking = setInterval(() => watch.look(), LOOK_MS);
  const code = await child.exited;
  clearInterval(looking);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${code}`);
  return watch.phase(units);
}

/** The matcher is a single thread, here that of the benchmark. */
async function matchPhases(cores: string): Promise<Phase[]> {
  const all = coreList(availableParallelism());
  const bind = (to: string) => Bun.spawnSync(["taskset", "-acp", to, String(process.pid)]);
  const match = matchingOf(SUBSCRIPTIONS);
  bind(cores);
  match();
  const watch = new Watch(process.pid);
  const units = match();
  const { secs, cpuMs } = watch.phase(units);
  bind(all);
  return [{ units, secs, cpuMs: new Map([...cpuMs].filter(([name]) => name === "main")) }];
}

/** Sums the CPU time of a process's threads. A thread that has ended counts with its last observed value. */
class Watch {
  readonly #pid: number;
  readonly #seen = new Map<string, { readonly name: string; readonly cpuMs: number }>();
  #before: CpuOfThreads;
  #startedMs = performance.now();

  constructor(pid: number) {
    this.#pid = pid;
    this.look();
    this.#before = this.#sums();
  }

  look(): void {
    try {
      for (const [tid, use] of threadsOf(this.#pid)) this.#seen.set(tid, use);
    } catch {
      // The process has ended.
    }
  }

  /** Ends a phase and starts the next one. */
  phase(units: number): Phase {
    this.look();
    const sums = this.#sums();
    const cpuMs = new Map([...sums].map(([name, ms]) => [name, ms - (this.#before.get(name) ?? 0)]));
    const secs = (performance.now() - this.#startedMs) / 1000;
    this.#before = sums;
    this.#startedMs = performance.now();
    return { units, secs, cpuMs };
  }

  #sums(): CpuOfThreads {
    const sums = new Map<string, number>();
    for (const [tid, { name, cpuMs }] of this.#seen) {
      const kind =
        tid === String(this.#pid) ? "main" : HELPERS.test(name) ? "compilers and collectors" : name;
      sums.set(kind, (sums.get(kind) ?? 0) + cpuMs);
    }
    return sums;
  }
}
