import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledBinary, startNode } from "../test/support/program.ts";
import { type Draw, drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { runOpenLoop } from "./open-loop.ts";
import { median, rssOf } from "./start.ts";
import { runWrk } from "./wrk.ts";

const RUNS = 5;
const CONNECTIONS = 32;
const RUN_SECS = 2;
const WARM_UP_SECS = 1;
const LATENCY_SECS = 5;
/** Different requests of one endpoint, which go in turn. */
const REQUESTS = 50;

/** The reads that have a goal, and the least share of a bare server's throughput that they are to reach. */
const ENDPOINTS: readonly {
  readonly name: string;
  readonly goal: number;
  readonly path: (draw: Draw) => string;
}[] = [
  { name: "/user", goal: 0.5, path: (d) => `/user?fid=${d.fid()}` },
  { name: "/user/bulk of 25", goal: 0.15, path: (d) => `/user/bulk?fids=${d.fids(25)}` },
  { name: "/cast/bulk of 25", goal: 0.15, path: (d) => `/cast/bulk?hashes=${d.hashes(25)}` },
  { name: "/feed/user/casts of 25", goal: 0.15, path: (d) => `/feed/user/casts?fid=${d.fid()}&limit=25` },
  {
    name: "/feed/following of 25, follows 1,000",
    goal: 0.08,
    path: (d) => `/feed/following?fid=${d.heavyFid}&limit=25`,
  },
  { name: "/notifications of 25", goal: 0.08, path: (d) => `/notifications?fid=${d.fid()}&limit=25` },
  {
    name: "/cast/conversation of 100",
    goal: 0.08,
    path: (d) => `/cast/conversation?identifier=${d.longThread()}&type=hash&reply_depth=5`,
  },
  { name: "/feed/trending of 25", goal: 0.15, path: () => "/feed/trending?limit=25" },
  { name: "/channel/trending of 25", goal: 0.15, path: () => "/channel/trending?limit=25" },
];

/**
 * Throughput of reads at 32 connections, from a load generator in another process, beside a bare `Bun.serve` that answers
 * the very same bytes, in turns; and latency at half the peak rate, from an open-loop generator. One HTTP worker of the
 * compiled binary with every hook on.
 */
export async function benchThroughput(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 2_000_000));
  const only = process.env.BENCH_ENDPOINT;
  const draw = drawFrom(network);
  const node = await startNode({ command: [await compiledBinary()], dataDir: network.dataDir });
  const figures: Figure[] = [];
  const endpoints = ENDPOINTS.filter(({ name }) => only === undefined || name.startsWith(only));
  const pathsOf = new Map(
    endpoints.map(({ name, path }) => [name, Array.from({ length: REQUESTS }, () => `/v2/svc${path(draw)}`)]),
  );
  const bodies: Record<string, string> = {};
  for (const path of [...pathsOf.values()].flat()) {
    const answer = await fetch(node.url + path);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    bodies[path] = await answer.text();
  }
  await using bare = await startBareServer(bodies);
  for (const { name, goal } of endpoints) {
    const paths = pathsOf.get(name) ?? [];
    const load = async (origin: string, durationSecs: number) => {
      const run = await runWrk({ origin, paths, connections: CONNECTIONS, durationSecs });
      if (run.errors > 0) throw new Error(`${run.errors} requests for ${name} failed`);
      return run.requestsPerSec;
    };
    const rates = { bare: [] as number[], node: [] as number[] };
    await load(bare.origin, WARM_UP_SECS);
    await load(node.url, WARM_UP_SECS);
    for (let run = 0; run < RUNS; run++) {
      rates.bare.push(await load(bare.origin, RUN_SECS));
      rates.node.push(await load(node.url, RUN_SECS));
    }
    const bytes = paths.reduce((sum, path) => sum + (bodies[path]?.length ?? 0), 0) / paths.length;
    const of = `a bare server with the same ${Math.round(bytes).toLocaleString("en")} bytes, goal ${goal}`;
    figures.push({
      what: `${name}, at ${CONNECTIONS} connections`,
      value: median(rates.node),
      unit: "requests/s",
      ratio: { of, value: median(rates.node) / median(rates.bare) },
    });
    const { hostname, port } = new URL(node.url);
    const latency = await runOpenLoop({
      hostname,
      port: Number(port),
      paths,
      requestsPerSec: median(rates.node) / 2,
      durationSecs: LATENCY_SECS,
      connections: CONNECTIONS,
    });
    if (latency.errors > 0) throw new Error(`${latency.errors} requests for ${name} failed`);
    figures.push({ what: `${name}, p50 at half of that`, value: latency.p50Ms, unit: "ms" });
    figures.push({
      what: `${name}, p99 at half of that`,
      value: latency.p99Ms,
      unit: "ms",
      ratio: { of: "its p50, goal under 10", value: latency.p99Ms / latency.p50Ms },
    });
  }
  figures.push({ what: "resident memory after all of it", value: rssOf(node.pid) / 1e6, unit: "MB" });
  await node.stop();
  return figures;
}

async function startBareServer(
  bodies: Readonly<Record<string, string>>,
): Promise<AsyncDisposable & { readonly origin: string }> {
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
    origin: `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(file, { force: true });
    },
  };
}
