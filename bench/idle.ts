import { join } from "node:path";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { anonymousBytesOf, rssOf } from "./start.ts";
import { type ThreadUse, threadsOf } from "./threads.ts";

/** The executable of an earlier version, which idles alongside this one. */
const BEFORE = process.env.BENCH_BEFORE;
/** Time until caches are warm and the runtime's collectors have slowed down. */
const SETTLE_SECS = Number(process.env.BENCH_SETTLE_SECS ?? 60);
const IDLE_SECS = Number(process.env.BENCH_IDLE_SECS ?? 60);
const SHOWN_THREADS = 6;

/**
 * Measures a node with the demo network and without requests, after the network was filled and after a restart: CPU time,
 * how often its threads wake, and resident memory. If an earlier version is given, both idle at the same time. Requires
 * Linux.
 */
export async function benchIdle(): Promise<Figure[]> {
  using dir = tempDir();
  const own = await compileInto(DIST);
  const sides = [
    ...(BEFORE ? [{ name: BEFORE, command: [BEFORE], dataDir: join(dir.path, "before") }] : []),
    { name: "this version", command: [own], dataDir: join(dir.path, "now") },
  ];
  const figures: Figure[] = [];
  for (const phase of ["filled", "restarted"] as const) {
    const nodes = await Promise.all(
      sides.map(({ command, dataDir }) => startNode({ command, dataDir, demo: phase === "filled" })),
    );
    await Bun.sleep(SETTLE_SECS * 1000);
    const before = nodes.map(({ pid }) => threadsOf(pid));
    await Bun.sleep(IDLE_SECS * 1000);
    const measured = nodes.map((node, at) => idleOf(node, before[at] ?? new Map()));
    const base = BEFORE ? measured[0] : undefined;
    for (const [at, { name }] of sides.entries()) {
      const now = measured[at];
      if (!now) continue;
      const figure = (what: keyof Idle, unit: string, label: string): Figure => ({
        what: `${phase}, ${name}: ${label}`,
        value: now[what] as number,
        unit,
        ...(base &&
          now !== base && { ratio: { of: "before", value: Number(now[what]) / Number(base[what]) } }),
      });
      figures.push(
        figure("cpuPercent", "% of a core", "CPU, goal 0.5"),
        figure("wakesPerSec", "a second", "wakings"),
        figure("residentMb", "MB", "resident memory, goal 120"),
        figure("anonymousMb", "MB", "of which not files"),
        figure("threads", "", "threads"),
        ...now.most.map(([thread, percent]) => ({
          what: `${phase}, ${name}:   ${thread}`,
          value: percent,
          unit: "% of a core",
        })),
      );
    }
    await Promise.all(nodes.map((node) => node.stop()));
  }
  return figures;
}

interface Idle {
  readonly cpuPercent: number;
  readonly wakesPerSec: number;
  readonly residentMb: number;
  readonly anonymousMb: number;
  readonly threads: number;
  /** The threads that used the most CPU, in percent of a core. */
  readonly most: readonly (readonly [name: string, percent: number])[];
}

function idleOf({ pid }: Pick<RunningNode, "pid">, before: ReadonlyMap<string, ThreadUse>): Idle {
  const used = [...threadsOf(pid)].map(([tid, { name, cpuMs, waits }]) => {
    const then = before.get(tid);
    return { name, cpuMs: cpuMs - (then?.cpuMs ?? 0), waits: waits - (then?.waits ?? 0) };
  });
  const percent = (cpuMs: number) => cpuMs / IDLE_SECS / 10;
  const byName = new Map<string, number>();
  for (const { name, cpuMs } of used) byName.set(name, (byName.get(name) ?? 0) + percent(cpuMs));
  return {
    cpuPercent: percent(used.reduce((sum, { cpuMs }) => sum + cpuMs, 0)),
    wakesPerSec: used.reduce((sum, { waits }) => sum + waits, 0) / IDLE_SECS,
    residentMb: rssOf(pid) / 1e6,
    anonymousMb: anonymousBytesOf(pid) / 1e6,
    threads: used.length,
    most: [...byName].sort(([, a], [, b]) => b - a).slice(0, SHOWN_THREADS),
  };
}
