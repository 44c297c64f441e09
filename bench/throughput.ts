import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileInto, DIST, startNode } from "../test/support/program.ts";
import { drawFrom } from "./draw.ts";
import { selectedReads } from "./goals.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { type LatencyRun, runOpenLoop } from "./open-loop.ts";
import { cpuMicrosOf, median, rssOf } from "./start.ts";
import { runWrk } from "./wrk.ts";

const RUNS = 5;
const CONNECTIONS = 32;
const RUN_SECS = 1;
const WARM_UP_SECS = 1;
const LATENCY_SECS = 1;
const LATENCY_RUNS = 3;
/** Number of different requests of one endpoint, sent in a cycle. */
const REQUESTS = 50;

/**
 * Measures throughput of reads at 32 connections, from a load generator in another process, interleaved with a bare
 * `Bun.serve` that sends the same bytes; and latency of uncached reads at half the peak rate, from an open-loop generator.
 * The node is the compiled binary with one HTTP worker and every hook enabled. `cached`: some requests, repeated in a cycle.
 * `uncached`: each request is sent once. A read takes about 25 seconds.
 */
export async function benchThroughput(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 2_000_000));
  const draw = drawFrom(network);
  const args = ["--set", "http.workers=1"];
  await using node = await startNode({ command: [await compileInto(DIST)], dataDir: network.dataDir, args });
  const figures: Figure[] = [];
  const endpoints = selectedReads();
  const pathsOf = new Map(
    endpoints.map(({ name, path }) => [name, Array.from({ length: REQUESTS }, () => `/v2/svc${path(draw)}`)]),
  );
  const bodies: Record<string, string> = {};
  for (const path of [...pathsOf.values()].flat()) {
    const response = await fetch(node.url + path);
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    bodies[path] = await response.text();
  }
  await using bare = await startBareServer(bodies);
  for (const { name, goal } of endpoints) {
    const paths = pathsOf.get(name) ?? [];
    const load = async (server: Server, isUncached: boolean, durationSecs = RUN_SECS): Promise<Run> => {
      const cpuBefore = cpuMicrosOf(server.pid);
      const run = await runWrk({
        origin: server.url,
        paths,
        connections: CONNECTIONS,
        durationSecs,
        isUncached,
      });
      if (run.errors > 0) throw new Error(`${run.errors} requests for ${name} failed`);
      const cpuMicros = (cpuMicrosOf(server.pid) - cpuBefore) / (run.requestsPerSec * durationSecs);
      return { rate: run.requestsPerSec, cpuMicros };
    };
    const runs = { bare: [] as Run[], cached: [] as Run[], uncached: [] as Run[] };
    await load(bare, true, WARM_UP_SECS);
    await load(node, true, WARM_UP_SECS);
    for (let run = 0; run < RUNS; run++) {
      runs.bare.push(await load(bare, true));
      runs.cached.push(await load(node, false));
      runs.uncached.push(await load(node, true));
    }
    const [bareRate, bareMicros] = mediansOf(runs.bare);
    const bytes = paths.reduce((sum, path) => sum + (bodies[path]?.length ?? 0), 0) / paths.length;
    const of = `a bare server with the same ${Math.round(bytes).toLocaleString("en")} bytes, goal ${goal}`;
    for (const kind of ["cached", "uncached"] as const) {
      const [rate, cpuMicros] = mediansOf(runs[kind]);
      const what = `${name}, ${kind}`;
      figures.push(
        { what, value: rate, unit: "requests/s", ratio: { of, value: rate / bareRate } },
        {
          what: "  CPU time per request",
          value: cpuMicros,
          unit: "us",
          ratio: { of: "requests of a bare server in the same CPU time", value: bareMicros / cpuMicros },
        },
      );
      if (kind === "cached") continue;
      const at = { paths, requestsPerSec: rate / 2, isUncached: true };
      const [node50, node99] = await latencyOf(node.url, at);
      const [bare50, bare99] = await latencyOf(bare.url, at);
      figures.push({ what: `${what}, p50 at half of that`, value: node50, unit: "ms" });
      figures.push({
        what: `${what}, p99 at half of that`,
        value: node99,
        unit: "ms",
        ratio: {
          of: `its p50, goal under 10 (the bare server at that rate: ${(bare99 / bare50).toFixed(1)})`,
          value: node99 / node50,
        },
      });
    }
  }
  figures.push({ what: "resident memory after all of it", value: rssOf(node.pid) / 1e6, unit: "MB" });
  return figures;
}

/** A server in another process. */
interface Server {
  readonly url: string;
  readonly pid: number;
}

interface Run {
  readonly rate: number;
  /** CPU time of the server per request. Other load on the machine affects it less than the rate. */
  readonly cpuMicros: number;
}

function mediansOf(runs: readonly Run[]): readonly [rate: number, cpuMicros: number] {
  return [median(runs.map(({ rate }) => rate)), median(runs.map(({ cpuMicros }) => cpuMicros))];
}

/** Returns median and p99 in milliseconds, each the median of some runs. */
async function latencyOf(
  origin: string,
  at: { readonly paths: readonly string[]; readonly requestsPerSec: number; readonly isUncached: boolean },
): Promise<readonly [p50Ms: number, p99Ms: number]> {
  const { hostname, port } = new URL(origin);
  const runs: LatencyRun[] = [];
  for (let run = 0; run < LATENCY_RUNS; run++) {
    const where = { hostname, port: Number(port), connections: CONNECTIONS, durationSecs: LATENCY_SECS };
    const latency = await runOpenLoop({ ...at, ...where });
    if (latency.errors > 0) throw new Error(`${latency.errors} requests failed`);
    runs.push(latency);
  }
  return [median(runs.map(({ p50Ms }) => p50Ms)), median(runs.map(({ p99Ms }) => p99Ms))];
}

export async function startBareServer(
  bodies: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & Server> {
  const file = join(tmpdir(), `bare-${process.pid}.json`);
  await Bun.write(file, JSON.stringify(bodies));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "processes/bare-server.ts"), file], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return {
    pid: child.pid,
    url: `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(file, { force: true });
    },
  };
}
