import { join } from "node:path";
import type { Figure } from "./main.ts";
import type { DecisionCosts } from "./processes/decision-costs.ts";
import { median } from "./start.ts";

const ROOT = join(import.meta.dir, "..");
/** A checkout to compare with, alternately. */
const BEFORE = process.env.BENCH_BEFORE;
const RUNS = 3;

/** Measures what a decision over SQLite costs beyond its statements, and its total cost compared with another commit. */
export async function benchDecisions(): Promise<Figure[]> {
  const runs: { now: DecisionCosts; before: DecisionCosts | undefined }[] = [];
  for (let run = 0; run < RUNS; run++)
    runs.push({ now: await costsOf(ROOT), before: BEFORE ? await costsOf(BEFORE) : undefined });
  const micros = (costs: DecisionCosts | undefined, name: string) => costs?.[name]?.micros ?? Number.NaN;
  return Object.keys(runs[0]?.now ?? {}).flatMap((name) => {
    const value = median(runs.map(({ now }) => micros(now, name)));
    const bare = median(runs.map(({ now }) => micros(now, name) / (now[name]?.bareMicros ?? Number.NaN)));
    const figures: Figure[] = [
      { what: name, value, unit: "µs of CPU", ratio: { of: "its bare statements", value: bare } },
    ];
    if (!BEFORE) return figures;
    const before = median(runs.map((run) => micros(run.now, name) / micros(run.before, name)));
    return [
      ...figures,
      { what: "  the same", value, unit: "µs of CPU", ratio: { of: BEFORE, value: before } },
    ];
  });
}

async function costsOf(checkout: string): Promise<DecisionCosts> {
  const script = join(import.meta.dir, "processes/decision-costs.ts");
  const child = Bun.spawn([process.execPath, script, checkout], { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`decisions of ${checkout} failed`);
  return JSON.parse(text);
}
