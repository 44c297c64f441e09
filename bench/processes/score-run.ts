/**
 * Computes the scores of an index in a separate process, for `bench scores`. Argument: the data directory. Rows are
 * discarded instead of stored, because the writer's thread does that. Prints its CPU time, its peak resident memory and the
 * statistics of the run.
 */
import { readFileSync } from "node:fs";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { runScores } from "../../src/scores/run.ts";

const SEEDS = 500;

using db = openIndexReader(indexPath(process.argv[2] ?? ""));
const startedMb = peakMb();
const cpu = process.cpuUsage();
const stats = await runScores(
  db,
  {
    seeds: { seeds: Array.from({ length: SEEDS }, (_, at) => at + 1), seedsAdd: [], notSeeds: [] },
    maxMemoryMb: 1024,
    nowSecs: Math.floor(Date.now() / 1000),
    turn: () => new Promise((resolve) => setImmediate(resolve)),
  },
  async (step) => (step.step === "rows" ? step.rows.length : 0),
);
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(
  `${JSON.stringify({ ...stats, cpuSecs: (user + system) / 1e6, startedMb, peakMb: peakMb() })}\n`,
);

function peakMb(): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;
}
