import { join, resolve } from "node:path";
import { startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { threadsOf } from "./threads.ts";
import { startBareServer } from "./throughput.ts";
import { runWrk } from "./wrk.ts";

const ROUNDS = 7;
const CONNECTIONS = 16;
const DURATION_SECS = 1;
/** Checkouts, with their packages, that are measured together with this one. */
const CHECKOUTS = (process.env.BENCH_VERSIONS ?? "").split(",").filter((path) => path !== "");

const READ = "/v2/svc/user?fid=3";
const REQUESTS = [
  { kind: "cached read", path: READ, isUncached: false },
  { kind: "distinct read", path: READ, isUncached: true },
  { kind: "/health", path: "/health", isUncached: false },
  { kind: "404", path: "/v2/svc/nothing", isUncached: false },
] as const;

/**
 * Measures the CPU time of a request to nodes with the demo network, run from the sources of several checkouts alternately,
 * together with a bare server that sends the bytes of the read. The figures are the lowest of the rounds, because other work
 * makes a time longer, never shorter. Requires Linux and wrk.
 */
export async function benchVersions(): Promise<Figure[]> {
  using dir = tempDir();
  await using started = new AsyncDisposableStack();
  const servers: { readonly name: string; readonly pid: number; readonly url: string }[] = [];
  for (const [at, checkout] of [...CHECKOUTS, "."].entries()) {
    const node = await startNode({
      command: [process.execPath, resolve(join(import.meta.dir, ".."), checkout, "src/main.ts")],
      dataDir: `${dir.path}/${at}`,
      args: ["--set", "http.workers=1", "--set", "log.level=warn"],
      demo: true,
    });
    started.use(node);
    servers.push({ name: checkout === "." ? "this version" : checkout, pid: node.pid, url: node.url });
    await fetchWhenReady(`${node.url}${READ}`);
  }
  const text = await fetchWhenReady(`${servers.at(-1)?.url}${READ}`);
  const bare = await startBareServer({ [READ]: text });
  started.use(bare);
  servers.unshift({ name: "bare server", pid: bare.pid, url: bare.url });

  const figures: Figure[] = [];
  for (const { kind, path, isUncached } of REQUESTS) {
    const leastUs = servers.map(() => Number.POSITIVE_INFINITY);
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const [at, { pid, url }] of servers.entries()) {
        const beforeUs = cpuUsOf(pid);
        const load = { connections: CONNECTIONS, durationSecs: DURATION_SECS, isUncached };
        const { requests } = await runWrk({ origin: url, paths: [path], ...load });
        const us = (cpuUsOf(pid) - beforeUs) / requests;
        if (round > 0) leastUs[at] = Math.min(leastUs[at] ?? us, us);
      }
    const [base = 0] = leastUs;
    for (const [at, { name }] of servers.entries()) {
      const value = leastUs[at] ?? 0;
      const ratio = at === 0 ? undefined : { of: "the bare server", value: value / base };
      figures.push({ what: `${kind}: ${name}`, value, unit: "µs of CPU", ratio });
    }
  }
  return figures;
}

function cpuUsOf(pid: number): number {
  return [...threadsOf(pid).values()].reduce((sum, { cpuMs }) => sum + cpuMs * 1000, 0);
}

/** Polls until the demo network is there. */
async function fetchWhenReady(url: string): Promise<string> {
  for (;;) {
    const response = await fetch(url);
    const text = await response.text();
    if (response.ok) return text;
    await Bun.sleep(100);
  }
}
