import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { httpWorkersOf } from "../../config/http-workers.ts";
import type { Config } from "../../config/schema.ts";
import { grouped } from "../../runtime/progress-line.ts";
import type { Check } from "./checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Fewer do not start the threads and their databases with room for clients. */
const FEWEST_FILES = 256;
/** The unit has 65536. A connection of a client takes one; a quarter of the limit stays for databases and calls. */
const FEW_FILES = 4096;
/** A node takes 150 to 300 MB (bench/README.md). */
const LEAST_MEMORY_BYTES = 300_000_000;
/** Filling an index took up to 673 MB (bench/README.md). */
const LITTLE_MEMORY_BYTES = 1_000_000_000;
const WORKER_BYTES = 50_000_000;

/**
 * How many files the node may open.
 *
 * @param nodeLimits the file with the limits of the running node; undefined when none runs, or it cannot be seen.
 */
export const filesCheck = (nodeLimits: string | undefined): Check => ({
  name: "open files",
  run: async () => {
    const ofNode = nodeLimits === undefined ? undefined : filesLimit(nodeLimits);
    if (ofNode !== undefined) return [assessFiles("the running node", ofNode)];
    const own = filesLimit("/proc/self/limits");
    return own === undefined ? [] : [assessFiles("a process started here", own)];
  },
});

function assessFiles(who: string, limit: number): Finding {
  const check = "open files";
  const text = `${who} may open ${grouped(limit)} files`;
  const advice =
    "Raise it: LimitNOFILE=65536 in the unit, `ulimit -n 65536` in a shell, or --ulimit of the container";
  if (limit < FEWEST_FILES) return fail(check, text, advice);
  const isLow = limit < FEW_FILES;
  return isLow
    ? warn(check, `${text}: connections are refused at three quarters of it`, advice)
    : ok(check, text);
}

/** The hard limit, to which the program raises its soft one at the start; undefined where it cannot be read. */
function filesLimit(limitsFile: string): number | undefined {
  try {
    const [, hard] = /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(readFileSync(limitsFile, "utf8")) ?? [];
    return hard === undefined ? undefined : hard === "unlimited" ? Number.POSITIVE_INFINITY : Number(hard);
  } catch {
    return undefined;
  }
}

/** How much memory the machine, or the container, has. */
export const memoryCheck = (http: Config["http"]): Check => ({
  name: "memory",
  run: async () => [assessMemory(memoryBytes(), httpWorkersOf(http))],
});

function assessMemory(bytes: number, workers: number): Finding {
  const check = "memory";
  const further = (workers - 1) * WORKER_BYTES;
  const text = `${grouped(bytes / 1e6)} MB for a node with ${workers} HTTP ${workers === 1 ? "worker" : "workers"}`;
  const advice = "Give the machine or container 1 GB or more";
  if (bytes < LEAST_MEMORY_BYTES + further) return fail(check, `${text} are too few`, advice);
  if (bytes < LITTLE_MEMORY_BYTES + further)
    return warn(check, `${text} may be too few while the index is filled`, advice);
  return ok(check, text);
}

/** The memory of the machine, or the limit of its control group. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
