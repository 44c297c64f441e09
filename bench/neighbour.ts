import { join } from "node:path";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import { clientSharesTable } from "./client-shares.ts";
import type { Figure } from "./main.ts";
import { type LatencyRun, runOpenLoop } from "./open-loop.ts";
import { type Attack, type AttackRun, SURFACES } from "./processes/hostile-neighbour.ts";
import { cpuMicrosOf, median } from "./start.ts";

/** The lowest and the highest ratio of five rounds contain the median with a probability of 94 %. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const DURATION_SECS = 5;
/** Turns after which the engine's compilers have little left to do. In the first they take up to a third of the core. */
const WARM_UP_TURNS = 2;
const REQUESTS_PER_SEC = 200;
const CONNECTIONS = 8;
const PATHS = [
  "/v2/svc/user?fid=2",
  "/v2/svc/feed/user/casts?fid=3&limit=25",
  "/v2/svc/user/bulk?fids=2,3,4",
];
/**
 * With `BENCH_REAL_TIME=1`, which needs root, nothing else on the machine delays the node, the sink or the clients. Threads
 * of the node then share their core without regard to which of them are waiting, so its collectors delay its reads by
 * milliseconds; the baseline has its own.
 */
const IS_REAL_TIME = process.env.BENCH_REAL_TIME === "1";
const AHEAD = IS_REAL_TIME ? ["chrt", "-r", "2"] : [];
/** The node and the sink share a core; the clients have the other one. */
const SERVERS = [...AHEAD, "taskset", "-c", "0"];
const CLIENTS = [...AHEAD, "taskset", "-c", "1"];
/** The attacker yields to the reads on their core. */
const ATTACKER = [...CLIENTS, ...(IS_REAL_TIME ? ["chrt", "-r", "1"] : ["nice", "-n", "19"])];

type Target = Pick<Attack, "url" | "hubAddress">;
type Turn = LatencyRun & Partial<AttackRun> & { readonly nodeCpuShare: number };

/**
 * Measures how one client is affected by another at full force, on each surface in turn: reads at a fixed rate while the
 * attacker attacks the node, and while it attacks a bare sink next to the node at the same rate. The sink only refuses, so
 * the attack uses the same connections, bytes and cycles of the machine, and the ratio is what the node adds. The goal is a
 * p99 ratio of at most 1.10.
 */
export async function benchNeighbour(): Promise<Figure[]> {
  using dir = tempDir();
  await using node = await startNode({
    command: [...SERVERS, ...fromSources],
    dataDir: `${dir.path}/data`,
    demo: true,
    args: [
      ...["--set", "log.level=error", "--set", "http.workers=1"],
      ...["--set", "http.trusted_proxies=127.0.0.0/8"],
    ],
  });
  await using sink = await startSink();
  const { hostname, port } = new URL(node.url);
  const read = async (): Promise<Turn> => {
    const beforeUs = cpuMicrosOf(node.pid);
    const run = await runOpenLoop(
      {
        ...{ hostname, port: Number(port), paths: PATHS, connections: CONNECTIONS, isUncached: true },
        durationSecs: DURATION_SECS,
        requestsPerSec: REQUESTS_PER_SEC,
        fields: "x-forwarded-for: 203.0.113.7\r\n",
        sleeps: true,
      },
      CLIENTS,
    );
    return { ...run, nodeCpuShare: (cpuMicrosOf(node.pid) - beforeUs) / (DURATION_SECS * 1e6) };
  };
  const readBeside = async (attack: Attack): Promise<Turn> => {
    const attacker = await startAttacker(attack);
    const run = await read();
    return { ...run, ...(await attacker.end()) };
  };
  await read();
  process.stdout.write(`\n${clientSharesTable()}\n\n`);
  const figures: Figure[] = [];
  const only = process.env.BENCH_SURFACES?.split(",");
  for (const surface of SURFACES.filter((each) => only === undefined || only.includes(each))) {
    const alone: Turn[] = [];
    const control: Turn[] = [];
    const attacked: Turn[] = [];
    for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) await readBeside({ surface, ...target(node) });
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await read());
      const turn = await readBeside({ surface, ...target(node) });
      attacked.push(turn);
      control.push(
        await readBeside({ surface, ...target(sink), maxPerSec: Math.max(1, turn.attemptsPerSec ?? 0) }),
      );
    }
    const errors = attacked.reduce((sum, run) => sum + run.errors, 0);
    for (const at of ["p50Ms", "p99Ms"] as const) {
      const of = (runs: readonly Turn[]) => median(runs.map((run) => run[at]));
      const ratios = attacked.map((run, round) => run[at] / (control[round]?.[at] ?? Number.NaN));
      const interval = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)).join("-");
      figures.push({
        what: `${at.slice(0, 3)} beside ${surface}${errors > 0 ? `, ${errors} errors` : ""}`,
        value: of(attacked),
        unit: "ms",
        ratio: {
          of: `${of(control).toFixed(2)} ms beside the sink (${interval}); alone ${of(alone).toFixed(2)} ms`,
          value: median(ratios),
        },
      });
    }
    figures.push({
      what: `longest wait beside ${surface}`,
      value: Math.max(...attacked.map(({ maxMs }) => maxMs)),
      unit: `ms   ${describe(attacked)}; sink: ${describe(control)}`,
    });
  }
  return figures;
}

const target = ({ url, hubAddress }: Target): Target => ({ url, hubAddress });

function describe(turns: readonly Turn[]): string {
  const attempts = median(turns.map(({ attemptsPerSec = 0 }) => attemptsPerSec));
  const bytes = median(turns.map(({ bytesPerSec = 0 }) => bytesPerSec));
  const cpu = median(turns.map(({ nodeCpuShare }) => nodeCpuShare));
  return `${Math.round(attempts)}/s, ${(bytes / 1e6).toFixed(1)} MB/s, node ${Math.round(cpu * 100)} % of its core`;
}

async function startSink(): Promise<Target & AsyncDisposable> {
  const script = join(import.meta.dir, "processes/bare-sink.ts");
  const child = Bun.spawn([...SERVERS, process.execPath, script], { stdout: "pipe", stderr: "inherit" });
  const first = await child.stdout.getReader().read();
  return {
    ...JSON.parse(new TextDecoder().decode(first.value)),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

/** Starts the attacker. It is at full force once its first line is read. */
async function startAttacker(attack: Attack): Promise<{ readonly end: () => Promise<AttackRun> }> {
  const script = join(import.meta.dir, "processes/hostile-neighbour.ts");
  const child = Bun.spawn([...ATTACKER, process.execPath, script, JSON.stringify(attack)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  await reader.read();
  return {
    async end() {
      await child.stdin.end();
      const second = await reader.read();
      await child.exited;
      return JSON.parse(new TextDecoder().decode(second.value));
    },
  };
}
