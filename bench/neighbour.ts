import { join } from "node:path";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { type LatencyRun, runOpenLoop } from "./open-loop.ts";
import { SURFACES, type Surface } from "./processes/hostile-neighbour.ts";
import { median } from "./start.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const DURATION_SECS = 4;
const REQUESTS_PER_SEC = 100;
const CONNECTIONS = 8;
const PATHS = [
  "/v2/svc/user?fid=2",
  "/v2/svc/feed/user/casts?fid=3&limit=25",
  "/v2/svc/user/bulk?fids=2,3,4",
];

/**
 * Measures what one client notices of another one at full force, on each surface in turn: reads at a fixed rate with the neighbour, in turns
 * with the same reads without it. The goal is a 99th percentile of at most 1.10. The neighbour is a process of its own, so on a machine with
 * two cores it also takes CPU time that the node cannot give to anybody; the figures contain that.
 */
export async function benchNeighbour(): Promise<Figure[]> {
  using dir = tempDir();
  await using node = await startNode({
    command: fromSources,
    dataDir: `${dir.path}/data`,
    demo: true,
    args: [
      ...["--set", "log.level=error", "--set", "http.workers=1"],
      ...["--set", "http.trusted_proxies=127.0.0.0/8"],
    ],
  });
  const { hostname, port } = new URL(node.url);
  const load = { hostname, port: Number(port), paths: PATHS, connections: CONNECTIONS, isUncached: true };
  const read = (durationSecs: number): Promise<LatencyRun> =>
    runOpenLoop({
      ...load,
      durationSecs,
      requestsPerSec: REQUESTS_PER_SEC,
      fields: "x-forwarded-for: 203.0.113.7\r\n",
    });
  await read(DURATION_SECS);
  const figures: Figure[] = [];
  const only = process.env.BENCH_SURFACES?.split(",");
  for (const surface of SURFACES.filter((each) => only === undefined || only.includes(each))) {
    const alone: LatencyRun[] = [];
    const beside: LatencyRun[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(await read(DURATION_SECS));
      await using _ = await startNeighbour(surface, node);
      beside.push(await read(DURATION_SECS));
    }
    const errors = beside.reduce((sum, run) => sum + run.errors, 0);
    for (const at of ["p50Ms", "p99Ms"] as const) {
      const baseline = median(alone.map((run) => run[at]));
      const value = median(beside.map((run) => run[at]));
      figures.push({
        what: `${at.slice(0, 3)} beside ${surface}${errors > 0 ? `, ${errors} errors` : ""}`,
        value,
        unit: "ms",
        ratio: { of: `alone, ${baseline.toFixed(2)} ms`, value: value / baseline },
      });
    }
  }
  return figures;
}

/** Starts the neighbour; it is at full force when its first line is read. */
async function startNeighbour(
  surface: Surface,
  { url, hubAddress }: { readonly url: string; readonly hubAddress: string },
): Promise<AsyncDisposable> {
  const script = join(import.meta.dir, "processes/hostile-neighbour.ts");
  const child = Bun.spawn([process.execPath, script, surface, url, hubAddress], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  await reader.read();
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}
