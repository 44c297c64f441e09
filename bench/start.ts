import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { indexPath } from "../src/db/index/database.ts";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { numberIn } from "./threads.ts";

const RUNS = 9;
const IDLE_SECS = 3;
const POLL_MS = 1;
const GIVE_UP_MS = 60_000;

/** A network that is on disk when the node starts. */
interface Side {
  readonly name: string;
  readonly dataDir: string;
  readonly fid: number;
  readonly startMs: number[];
  readonly readyMs: number[];
  readonly stopMs: number[];
  readonly rssBytes: number[];
}

/**
 * Measures the time from the start of the compiled binary to the first response to a read, with the demo network and a large
 * one (`BENCH_MESSAGES`) on disk, interleaved with a bare compiled server; also sizes and idle memory.
 */
export async function benchStart(): Promise<Figure[]> {
  using dir = tempDir();
  const binary = await compileInto(DIST);
  const hello = await compileHello(join(dir.path, "hello"));
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 10_000_000));
  const size = `${network.messages.toLocaleString("en")} messages`;
  const demo = sideOf("the demo network", join(dir.path, "data"), 3);
  const sides = [demo, sideOf(size, network.dataDir, network.heavyFid)];

  const filling = performance.now();
  const first = await startNode({ command: [binary], dataDir: demo.dataDir, demo: true });
  const fillMs = performance.now() - filling;
  await first.stop();
  // A new network gets its first ranking before it is measured.
  await (await startNode({ command: [binary], dataDir: network.dataDir })).stop();

  const helloMs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    helloMs.push(await startHello(hello));
    for (const side of sides) await startAndStop(binary, side);
  }
  const of = "the bare server";
  return [
    { what: "binary", value: statSync(binary).size / 1e6, unit: "MB" },
    { what: "first start, with filling the demo network", value: fillMs, unit: "ms" },
    { what: `${of}: start to first response, median of ${RUNS}`, value: median(helloMs), unit: "ms" },
    ...sides.flatMap(({ name, startMs, readyMs, stopMs, rssBytes }): Figure[] => [
      {
        what: `${name}: start to first response, goal 300`,
        value: median(startMs),
        unit: "ms",
        ratio: { of, value: median(startMs) / median(helloMs) },
      },
      { what: `${name}: slowest of these`, value: Math.max(...startMs), unit: "ms" },
      { what: `${name}: start until all components run`, value: median(readyMs), unit: "ms" },
      { what: `${name}: SIGTERM to exit`, value: median(stopMs), unit: "ms" },
      { what: `${name}: resident memory, idle`, value: median(rssBytes) / 1e6, unit: "MB" },
    ]),
    {
      what: `${size}: database`,
      value: statSync(indexPath(network.dataDir)).size / network.messages,
      unit: "bytes/message",
    },
  ];
}

function sideOf(name: string, dataDir: string, fid: number): Side {
  return { name, dataDir, fid, startMs: [], readyMs: [], stopMs: [], rssBytes: [] };
}

async function startAndStop(binary: string, side: Side): Promise<void> {
  const { dataDir, fid, startMs, readyMs, stopMs, rssBytes } = side;
  const port = freePort();
  const startedAt = performance.now();
  const [respondedAt, node] = await Promise.all([
    firstResponse(`http://127.0.0.1:${port}/v2/svc/user?fid=${fid}`),
    startNode({ command: [binary], dataDir, args: ["--port", String(port)] }),
  ]);
  startMs.push(respondedAt - startedAt);
  readyMs.push(performance.now() - startedAt);
  await Bun.sleep(IDLE_SECS * 1000);
  rssBytes.push(rssOf(node.pid));
  const stoppingAt = performance.now();
  await node.stop();
  stopMs.push(performance.now() - stoppingAt);
}

async function startHello(hello: string): Promise<number> {
  const port = freePort();
  const startedAt = performance.now();
  const child = Bun.spawn([hello, String(port)]);
  const respondedAt = await firstResponse(`http://127.0.0.1:${port}/`);
  child.kill("SIGTERM");
  await child.exited;
  return respondedAt - startedAt;
}

/** Returns a port that was free a moment ago. It must be known before the process that binds it prints anything. */
function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Polls until a response arrives. Returns the time when it did. */
async function firstResponse(url: string): Promise<number> {
  const givesUpAt = performance.now() + GIVE_UP_MS;
  while (performance.now() < givesUpAt) {
    const response = await fetch(url).catch(() => undefined);
    if (response) {
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${url} returned ${response.status}`);
      return performance.now();
    }
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`no response from ${url}`);
}

/** Compiles with the same options as the program. */
async function compileHello(outfile: string): Promise<string> {
  const entrypoints = [join(import.meta.dir, "processes/hello.ts")];
  await Bun.build({ entrypoints, format: "esm", bytecode: true, compile: { outfile } });
  return outfile;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Returns the resident memory of a process, in bytes, from Linux's /proc. */
export function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}

/** Returns the memory of a process without the pages of files, in bytes. The kernel can only take the latter back. */
export function anonymousBytesOf(pid: number): number {
  return numberIn(readFileSync(`/proc/${pid}/status`, "utf8"), "RssAnon") * 1024;
}

/** Linux counts CPU time in hundredths of a second. */
const MICROS_PER_TICK = 10_000;

/** Returns the CPU time of all threads of a process, in microseconds. */
export function cpuMicrosOf(pid: number): number {
  // The name of the process, in parentheses, may contain any character. The times are at a fixed position after it.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}
