import { cpSync } from "node:fs";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { toFarcasterSecs } from "../src/protocol/time.ts";
import { makeSigner, signedCast } from "../test/support/messages.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { type BenchNetwork, benchNetwork } from "./network.ts";
import { runOpenLoop } from "./open-loop.ts";
import { median, rssOf } from "./start.ts";
import { runWrk } from "./wrk.ts";

const MERGES_PER_SEC = 200;
/** Seconds of writing for which casts are signed before a run. */
const SIGNED_SECS = 2;
const CONNECTIONS = 32;
const RUNS = 5;
const RUN_SECS = 1;
/** Rounds of the latencies. Each contains every read with and without writes. */
const LATENCY_ROUNDS = Number(process.env.BENCH_RUNS ?? 20);
/** No further round starts after this time, for machines whose cores others use too. */
const MAX_LATENCY_SECS = 90;
const WARM_UP_SECS = 2;
const PATHS = 50;
/** The rate at which latencies are measured, far below the peak of one worker. */
const LATENCY_REQUESTS_PER_SEC = 200;
const MAX_P99_RATIO = 2;
const WORKERS = (process.env.BENCH_WORKERS ?? "1,2,4").split(",").map(Number);

/**
 * Measures reads during writes. Nodes of the compiled binary with 1, 2 and 4 HTTP workers get 200 casts per second over
 * gRPC, one per call, while 32 connections read users and following feeds; each request is distinct. The runs of the nodes
 * are interleaved. Then it measures the latency of each read at a fixed rate with and without writes.
 */
export async function benchMixed(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 100_000));
  using dir = tempDir();
  const command = [await compileInto(DIST)];
  const nodes: { workers: number; node: RunningNode }[] = [];
  try {
    for (const workers of WORKERS) {
      const dataDir = join(dir.path, `${workers}`);
      cpSync(network.dataDir, dataDir, { recursive: true });
      const args = ["--set", `http.workers=${workers}`];
      nodes.push({ workers, node: await startNode({ command, dataDir, args }) });
    }
    const paths = pathsOf(network);
    const figures = await throughputFigures(network, nodes, Object.values(paths).flat());
    const [first] = nodes;
    if (first) figures.push(...(await latencyFigures(network, first.node, paths)));
    return figures;
  } finally {
    for (const { node } of nodes) await node.stop();
  }
}

function pathsOf(network: BenchNetwork): Readonly<Record<string, readonly string[]>> {
  const draw = drawFrom(network);
  const many = (path: () => string) => Array.from({ length: PATHS }, () => `/v2/svc${path()}`);
  return {
    "/user": many(() => `/user?fid=${draw.fid()}`),
    "/feed/following of 25": many(() => `/feed/following?fid=${draw.fid()}&limit=25`),
  };
}

async function throughputFigures(
  network: BenchNetwork,
  nodes: readonly { readonly workers: number; readonly node: RunningNode }[],
  paths: readonly string[],
): Promise<Figure[]> {
  const rates = new Map<number, number[]>(nodes.map(({ workers }) => [workers, []]));
  for (let run = 0; run <= RUNS; run++) {
    for (const { workers, node } of nodes) {
      const durationSecs = run === 0 ? WARM_UP_SECS : RUN_SECS;
      const load = () =>
        runWrk({ origin: node.url, paths, connections: CONNECTIONS, durationSecs, isUncached: true });
      const { requestsPerSec, errors } = await besideWrites(network, node, load);
      if (errors > 0) throw new Error(`${errors} requests failed`);
      if (run > 0) rates.get(workers)?.push(requestsPerSec);
    }
  }
  const baseline = rates.get(WORKERS[0] ?? 1) ?? [];
  return nodes.flatMap(({ workers, node }) => {
    const ofNode = rates.get(workers) ?? [];
    const value = median(ofNode);
    const ratio = { of: `${WORKERS[0]} worker`, value: medianRatio(ofNode, baseline) };
    return [
      { what: `reads beside writes, workers: ${workers}`, value, unit: "requests/s", ratio },
      { what: "  resident memory", value: rssOf(node.pid) / 1e6, unit: "MB" },
    ];
  });
}

async function latencyFigures(
  network: BenchNetwork,
  node: RunningNode,
  pathsByName: Readonly<Record<string, readonly string[]>>,
): Promise<Figure[]> {
  const { hostname, port } = new URL(node.url);
  const latency = async (paths: readonly string[]) => {
    const { p99Ms, errors } = await runOpenLoop({
      hostname,
      port: Number(port),
      paths,
      requestsPerSec: LATENCY_REQUESTS_PER_SEC,
      durationSecs: RUN_SECS,
      connections: CONNECTIONS,
      isUncached: true,
    });
    if (errors > 0) throw new Error("requests failed");
    return p99Ms;
  };
  const reads = Object.entries(pathsByName).map(([name, paths]) => ({
    name,
    without: () => latency(paths),
    beside: () => besideWrites(network, node, () => latency(paths)),
    p99: { without: [] as number[], beside: [] as number[] },
  }));
  for (const { without, beside } of reads) {
    await without();
    await beside();
  }
  const endsAt = performance.now() + MAX_LATENCY_SECS * 1000;
  for (let round = 0; round < LATENCY_ROUNDS && performance.now() < endsAt; round++) {
    for (const { without, beside, p99 } of reads) {
      // The order alternates, so that rising or falling load from elsewhere favours neither.
      if (round % 2 === 0) p99.without.push(await without());
      p99.beside.push(await beside());
      if (round % 2 === 1) p99.without.push(await without());
    }
  }
  return reads.flatMap(({ name, p99 }) => {
    const rounds = p99.beside.length;
    const ratio = {
      of: `without writes, median of ${rounds} rounds, at most ${MAX_P99_RATIO}`,
      value: medianRatio(p99.beside, p99.without),
    };
    return [
      { what: `${name}, p99 at ${LATENCY_REQUESTS_PER_SEC}/s`, value: median(p99.without), unit: "ms" },
      { what: "  beside writes", value: median(p99.beside), unit: "ms", ratio },
    ];
  });
}

/** Returns the median of the ratios of consecutive runs, so that other load on the machine affects both. */
function medianRatio(values: readonly number[], baselines: readonly number[]): number {
  return median(values.map((value, run) => value / (baselines[run] ?? Number.NaN)));
}

/** Submits casts at a fixed rate, one per call, until `read` has finished. */
async function besideWrites<T>(network: BenchNetwork, node: RunningNode, read: () => Promise<T>): Promise<T> {
  const client = new Client(node.hubAddress, credentials.createInsecure());
  let isOver = false;
  // Signed before the run, so that signing takes no CPU time from it.
  const signed = Array.from({ length: MERGES_PER_SEC * SIGNED_SECS }, () => nextCast(network.fids));
  const writing = writeCasts(
    client,
    () => signed.pop() ?? nextCast(network.fids),
    () => isOver,
  );
  try {
    return await read();
  } finally {
    isOver = true;
    await writing;
    client.close();
  }
}

let casts = 0;

async function writeCasts(client: Client, next: () => Buffer, isOver: () => boolean): Promise<void> {
  const startedAt = performance.now();
  const calls: Promise<void>[] = [];
  while (!isOver()) {
    const due = ((performance.now() - startedAt) / 1000) * MERGES_PER_SEC;
    while (calls.length < due) calls.push(submit(client, next()));
    await Bun.sleep(1000 / MERGES_PER_SEC);
  }
  await Promise.all(calls);
}

function nextCast(fids: number): Buffer {
  casts += 1;
  const fid = 1 + (casts % fids);
  const timestamp = toFarcasterSecs(Math.floor(Date.now() / 1000));
  return Buffer.from(
    signedCast(fid, `Beside reads, cast ${casts} of a run`, makeSigner(`bench ${fid}`), { timestamp }),
  );
}

function submit(client: Client, message: Buffer): Promise<void> {
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest("/HubService/SubmitMessage", asBuffer, asBuffer, message, (cause) => {
      if (cause) reject(cause);
      else resolve();
    });
  });
}
