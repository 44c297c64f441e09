/**
 * Reads of a checkout, for `bench inside` with `BENCH_BEFORE`. Argument: the checkout whose code reads. Over IPC it receives
 * a list of paths, responds with the size of a batch and of its responses, then runs a batch for each further message and
 * responds with its CPU time.
 */
import { join } from "node:path";
import type { InProcess } from "../in-process.ts";
import type { BenchNetwork } from "../network.ts";

/** Approximate duration of a batch, less than a time slice of a busy machine. */
const BATCH_CPU_MS = 10;
/** Long enough for the engine's compilers. */
const WARM_UP_MS = 700;
const ROUNDS_AT_A_TIME = 20;

const [checkout = "", messages = ""] = process.argv.slice(2);
const load = (path: string) => import(join(checkout, path));
const { benchNetwork } = (await load("bench/network.ts")) as {
  benchNetwork: (messages: number) => BenchNetwork;
};
const { startInProcess } = (await load("bench/in-process.ts")) as {
  startInProcess: (dataDir: string) => Promise<InProcess>;
};
const server = await startInProcess(benchNetwork(Number(messages)).dataDir);

let paths: readonly string[] = [];
let rounds = 1;
let sent = 0;

const get = (path: string) => server.handle(new Request(`http://localhost:1${path}`));

async function cpuUs(times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let round = 0; round < times; round++)
    // A parameter that the node ignores makes the request distinct, so that the response is built.
    for (const path of paths) {
      const response = get(`${path}&unused=${sent++}`);
      if (response instanceof Promise) await response;
    }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (times * paths.length);
}

process.on("message", async (message: readonly string[] | "run") => {
  if (message === "run") return process.send?.(await cpuUs(rounds));
  paths = message;
  let bytes = 0;
  for (const path of paths) {
    const response = await get(path);
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    bytes += (await response.arrayBuffer()).byteLength;
  }
  let us = 0;
  for (const until = performance.now() + WARM_UP_MS; performance.now() < until; )
    us = await cpuUs(ROUNDS_AT_A_TIME);
  rounds = Math.max(1, Math.round((BATCH_CPU_MS * 1000) / us / paths.length));
  process.send?.(bytes);
});
process.send?.("ready");
