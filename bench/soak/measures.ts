import type { Sample } from "./samples.ts";
import { BARE_SYNC } from "./synced-page.ts";

/** One quantity of a soak. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  /** Returns the quantity over a few consecutive samples; NaN if they do not have it. */
  readonly of: (samples: readonly Sample[], before: Sample | undefined) => number;
  /**
   * How the values of a window are combined. Other work on the machine makes a time longer, never shorter, and more so for a
   * process of many threads than for a bare one; the first quartile shows the node itself.
   */
  readonly over: "median" | "max" | "quartile";
}

const MB = 1e6;

/**
 * What is evaluated for any node: absolute figures first, then those relative to a bare server that was called alternately.
 */
export const MEASURES: readonly Measure[] = [
  figure("resident memory", "MB", (sample) => sample.node.rssBytes / MB),
  figure("descriptors", "", (sample) => sample.node.descriptors),
  figure("threads", "", (sample) => sample.node.threads),
  largest("log of the index (WAL)", (sample) => (sample.node.fileBytes["index.db-wal"] ?? 0) / MB),
  largest("log of the state (WAL)", (sample) => (sample.node.fileBytes["state.db-wal"] ?? 0) / MB),
  { name: "CPU time of a request", unit: "of a bare one", over: "quartile", of: cpuOfRequest },
  {
    name: "event-loop lag, p99",
    unit: "of a bare p99",
    over: "quartile",
    of: (samples) => median(samples.map(({ node }) => node.lagUs)) / percentile(bareReads(samples), 0.99),
  },
  ...["user", "25 users", "casts of a user", "following feed", "conversation", "notifications"].map(
    (kind): Measure => ({
      name: `${kind}, p50`,
      unit: "of a bare one",
      over: "quartile",
      of: (samples) =>
        percentile(values(samples, kind, "tookUs"), 0.5) /
        percentile(values(samples, kind, "bareTookUs"), 0.5),
    }),
  ),
  {
    name: "all these reads, p99",
    unit: "of a bare p99",
    over: "quartile",
    of: (samples) => percentile(nodeReads(samples), 0.99) / percentile(bareReads(samples), 0.99),
  },
  ...["submit", "write over HTTP", "signed read", "submit to delivery"].flatMap((kind): Measure[] =>
    [0.5, 0.99].map((share) => ({
      name: `${kind}, p${share * 100}`,
      unit: "of a synced page",
      over: "quartile",
      of: (samples) =>
        percentile(values(samples, kind, "tookUs"), share) /
        percentile(values(samples, BARE_SYNC, "bareTookUs"), share),
    })),
  ),
];

function figure(name: string, unit: string, of: (sample: Sample) => number): Measure {
  return { name, unit, over: "median", of: (samples) => median(samples.map(of)) };
}

function largest(name: string, of: (sample: Sample) => number): Measure {
  return { name, unit: "MB", over: "max", of: (samples) => Math.max(...samples.map(of)) };
}

/** The calls by whose number the node's CPU time is divided; their mix is fixed. */
const CALLS = [
  ...["submit", "write over HTTP", "other reads", "gRPC read", "console polls", "send", "signed read"],
  ...["read by session", "hostile requests", "vanished clients", "refused submits", "token events"],
];

/** Returns the number of calls that succeeded, including those of the prober. */
export function callsIn(samples: readonly Sample[]): number {
  return samples.reduce(
    (sum, { done }) => sum + CALLS.reduce((more, name) => more + (done[name] ?? 0), 0),
    nodeReads(samples).length,
  );
}

function cpuOfRequest(samples: readonly Sample[], before: Sample | undefined): number {
  const last = samples.at(-1);
  if (!before || !last) return Number.NaN;
  const ofNode = (last.node.cpuUs - before.node.cpuUs) / callsIn(samples);
  return ofNode / ((last.bareCpuUs - before.bareCpuUs) / bareReads(samples).length);
}

function values(samples: readonly Sample[], kind: string, of: "tookUs" | "bareTookUs"): number[] {
  return samples.flatMap((sample) => sample[of][kind] ?? []);
}

/** The kinds of reads are those for which the bare server was called too. */
function nodeReads(samples: readonly Sample[]): number[] {
  return samples.flatMap(({ tookUs, bareTookUs }) =>
    Object.keys(bareTookUs).flatMap((kind) => tookUs[kind] ?? []),
  );
}

function bareReads(samples: readonly Sample[]): number[] {
  return samples.flatMap(({ bareTookUs }) =>
    Object.entries(bareTookUs).flatMap(([kind, took]) => (kind === BARE_SYNC ? [] : took)),
  );
}

export function percentile(unsorted: readonly number[], share: number): number {
  const sorted = [...unsorted].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(unsorted: readonly number[]): number {
  return percentile(unsorted, 0.5);
}

/** A part of a run, as one point of a plot. */
export interface Bucket {
  readonly atSecs: number;
  readonly samples: readonly Sample[];
  readonly before: Sample | undefined;
}

/** Splits samples into parts of equal length in time. */
export function buckets(samples: readonly Sample[], secs: number): Bucket[] {
  const found = new Map<number, Sample[]>();
  for (const sample of samples) {
    const nth = Math.floor(sample.atSecs / secs);
    const already = found.get(nth);
    if (already) already.push(sample);
    else found.set(nth, [sample]);
  }
  let before: Sample | undefined;
  return [...found].map(([nth, own]) => {
    const bucket = { atSecs: (nth + 0.5) * secs, samples: own, before };
    before = own.at(-1);
    return bucket;
  });
}
