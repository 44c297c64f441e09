import { readFileSync } from "node:fs";
import { compileInto, DIST, startNode, tempDir } from "../test/support/program.ts";
import { startUpstream } from "./backfill.ts";
import { backfillSet } from "./backfill-set.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const LOOK_MS = 250;
const LATENCY_MS = 30;
/** With this many, a virtual shard has about enough pages per gasless key to show what reading around one costs. */
const VIRTUAL_SHARDS = 16;
const CLOCK_TICKS_PER_SEC = 100;

const WAYS = {
  "fid by fid": {},
  snapshots: { snapshots: "yes" },
  "snapshots with a gasless key in each part": { snapshots: "keys" },
  [`snapshots at ${LATENCY_MS} ms`]: { snapshots: "yes", latencyMs: String(LATENCY_MS) },
};

type Way = keyof typeof WAYS;

interface Fill {
  readonly cpuMicros: number;
  readonly calls: number;
  readonly secs: number;
  readonly cpuShare: number;
}

/**
 * Measures the cost for the compiled binary of filling an empty index from a scripted upstream: CPU time of its process per
 * message, and calls. The methods are interleaved, over the same messages. BENCH_MESSAGES sets their approximate number.
 */
export async function benchReplication(): Promise<Figure[]> {
  const set = await backfillSet(Number(process.env.BENCH_MESSAGES ?? 200_000), VIRTUAL_SHARDS);
  const ways = Object.keys(WAYS) as Way[];
  const fills = new Map<Way, Fill[]>(ways.map((way) => [way, []]));
  for (let run = 0; run < RUNS; run++)
    for (const way of ways) {
      await using upstream = await startUpstream(set, WAYS[way]);
      const { cpuSecs, secs } = await fill(upstream.address);
      fills.get(way)?.push({
        cpuMicros: (cpuSecs / set.messages) * 1e6,
        calls: await upstream.calls(),
        secs,
        cpuShare: cpuSecs / secs,
      });
    }
  const figure = (way: Way, field: keyof Fill, what: string, unit: string): Figure => {
    const values = (of: Way) => (fills.get(of) ?? []).map((one) => one[field]);
    const bare = values("fid by fid");
    const ratios = values(way).map((value, run) => value / (bare[run] ?? Number.NaN));
    const ratio = way === "fid by fid" ? undefined : { of: "fid by fid", value: median(ratios) };
    return { what: `${way}: ${what}`, value: median(values(way)), unit, ratio };
  };
  return [
    {
      what: "messages",
      value: set.messages,
      unit: `of ${set.fids} fids in ${VIRTUAL_SHARDS} virtual shards`,
    },
    ...ways.flatMap((way) => [
      figure(way, "cpuMicros", "CPU of a message", "µs"),
      figure(way, "calls", "calls", ""),
      figure(way, "secs", "time", "s"),
      figure(way, "cpuShare", "CPU in use", "cores"),
    ]),
  ];
}

/** Starts a node with an empty index and waits until it follows. */
async function fill(address: string): Promise<{ cpuSecs: number; secs: number }> {
  using dir = tempDir();
  const startedAt = performance.now();
  await using node = await startNode({
    command: [await compileInto(DIST)],
    dataDir: `${dir.path}/data`,
    args: ["--set", `upstream.url=http://${address}`, "--set", "trust.level=node"],
  });
  for (;;) {
    await Bun.sleep(LOOK_MS);
    const { upstream } = (await (await fetch(`${node.url}/status`)).json()) as {
      upstream?: { phase?: string };
    };
    if (upstream?.phase === "live")
      return { cpuSecs: cpuSecsOf(node.pid), secs: (performance.now() - startedAt) / 1000 };
  }
}

/** Returns the CPU time of a process and its threads, in seconds. */
function cpuSecsOf(pid: number): number {
  const [, fields = ""] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
  return (user + system) / CLOCK_TICKS_PER_SEC;
}
