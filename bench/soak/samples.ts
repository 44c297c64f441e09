import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** The first line of a file of samples: what ran, and when. */
export interface SoakStart {
  readonly startedAt: string;
  readonly hours: number;
  readonly sampleSecs: number;
  readonly version: string;
  readonly cores: number;
}

/** One reading of everything, and what happened since the previous one. */
export interface Sample {
  /** Seconds since the load started. */
  readonly atSecs: number;
  readonly node: NodeFigures;
  /** CPU time of the load and of the bare server since they started, in microseconds. */
  readonly loadCpuUs: number;
  readonly bareCpuUs: number;
  /** Resident memory of the process that generates the load. */
  readonly loadRssBytes: number;
  /** Load average of the machine, and its total CPU time, which show how busy other work keeps it. */
  readonly loadAverage: number;
  /** Number of successful actions since the last sample, by name. */
  readonly done: Readonly<Record<string, number>>;
  /** Number of unexpected failures, by name and reason. */
  readonly failed: Readonly<Record<string, number>>;
  /** Microseconds of each call since the last sample, by kind. */
  readonly tookUs: Readonly<Record<string, readonly number[]>>;
  /** The same for the bare server, which was called alternately. */
  readonly bareTookUs: Readonly<Record<string, readonly number[]>>;
}

/** Figures of the node's process, from `/proc`, its data directory and `/metrics`. */
export interface NodeFigures {
  readonly rssBytes: number;
  /** Memory not backed by a file, if it was read: reading it walks the page tables. */
  readonly anonymousBytes?: number;
  readonly threads: number;
  readonly descriptors: number;
  readonly cpuUs: number;
  /** Sizes of the files of the data directory. */
  readonly fileBytes: Readonly<Record<string, number>>;
  /** Event-loop lag of the main thread, p99 since the last sample. */
  readonly lagUs: number;
  readonly heapBytes: number;
  /** Gauges of queues and connections. */
  readonly gauges: Readonly<Record<string, number>>;
}

/** A finished or running soak. */
export interface SoakRun {
  readonly start: SoakStart;
  readonly samples: readonly Sample[];
}

/** Writes a file of samples line by line, so that a run that is killed leaves its samples so far. */
export function createSampleFile(path: string, start: SoakStart): { add(sample: Sample): void } {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(start)}\n`);
  return { add: (sample) => appendFileSync(path, `${JSON.stringify(sample)}\n`) };
}

/** Reads a file of samples, even one that is still being written: an unfinished last line does not count. */
export function readSampleFile(path: string): SoakRun {
  const [first = "", ...lines] = readFileSync(path, "utf8").split("\n").slice(0, -1);
  if (first === "") throw new Error(`${path} has no samples`);
  return { start: JSON.parse(first), samples: lines.map((line) => JSON.parse(line)) };
}
