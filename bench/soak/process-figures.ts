import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { cpuMicrosOf } from "../start.ts";
import type { NodeFigures } from "./samples.ts";

const GAUGES = [
  "hub_subscribers",
  'stream_connections{transport="sse"}',
  'stream_connections{transport="websocket"}',
  'webhook_deliveries{state="queued"}',
  'webhook_deliveries{state="delivered"}',
  "send_queue_age_seconds",
  'index_rows{kind="messages"}',
] as const;

/** Reads what Linux, the data directory and `/metrics` report about a node. */
export async function readNodeFigures(options: {
  readonly pid: number;
  readonly url: string;
  readonly dataDir: string;
  readonly withAnonymous: boolean;
}): Promise<NodeFigures> {
  const { pid, url, dataDir, withAnonymous } = options;
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(20_000) });
  const metrics = await response.text();
  if (!response.ok) throw new Error(`/metrics: ${response.status}`);
  const metric = (name: string) => {
    const line = metrics.split("\n").find((candidate) => candidate.startsWith(`svc_${name} `));
    return Number(line?.slice(name.length + 5) ?? 0);
  };
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (text: string, name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
  const anonymous = withAnonymous
    ? { anonymousBytes: kilobytes(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"), "Anonymous") * 1024 }
    : {};
  return {
    rssBytes: kilobytes(status, "VmRSS") * 1024,
    ...anonymous,
    threads: kilobytes(status, "Threads"),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpuUs: cpuMicrosOf(pid),
    fileBytes: fileSizes(dataDir),
    lagUs: Math.round(metric("nodejs_eventloop_lag_p99_seconds") * 1e6),
    heapBytes: metric("nodejs_heap_size_used_bytes"),
    gauges: Object.fromEntries(GAUGES.map((name) => [name, metric(name)])),
  };
}

function fileSizes(dataDir: string): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const name of readdirSync(dataDir)) {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false });
    if (stats?.isFile() && name.includes(".db")) sizes[name] = stats.size;
  }
  return sizes;
}
