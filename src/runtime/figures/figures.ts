import type { DurationStats } from "./call-durations.ts";

/**
 * A value that a part counts or measures, declared once next to the code that counts it. Its metric, its `/status` key, its history and
 * its curve on the status page follow from the declaration.
 */
export interface Figure<in Stats> {
  readonly metric?: Metric<Stats>;
  readonly status?: { readonly path: string; readonly read: (now: Stats) => unknown };
  readonly series?: Series<Stats>;
  readonly lane?: Lane<Stats>;
}

/** A lane of the history: how often events of several kinds happened. */
export interface Lane<in Stats = never> {
  /** `events`, `deliveries`, `errors` or `log`. */
  readonly name: string;
  /** Counts by kind, which increase from the start of the part. */
  readonly read: (now: Stats) => Readonly<Record<string, number>>;
}

/** The name of a figure in each place that shows it, and how its value is computed. */
interface Declaration<Stats, Value> {
  readonly read: (now: Stats) => Value;
  readonly metric?: Metric<Value>;
  /** The path of its `/status` key, such as `webhooks.oldest_due_secs`, with a function for its value if it differs. */
  readonly status?: string | readonly [path: string, of: (value: Value) => unknown];
  readonly history?: HistoryDeclaration<Value>;
  /** The lane of the history that contains its counts. */
  readonly lane?: { readonly name: string; readonly of: (value: Value) => Readonly<Record<string, number>> };
}

interface HistoryDeclaration<Value> {
  readonly series: string;
  /** How samples are combined to a minute: their mean, or their maximum if short peaks matter. */
  readonly minute: "mean" | "max";
  /** Default: the value itself. */
  readonly of?: (value: Value) => number | null | undefined;
  /** For a count, the history's value of an increase of 1 per second, such as 60 for a rate per minute. */
  readonly rate?: number;
  /** Returns the history's value from two samples. Default: the later value, or the rate between them. */
  readonly between?: (before: Value, after: Value) => number | undefined;
  /** Whether only the operator may read it. The others are also in `/status` and `/metrics`. */
  readonly isPrivate?: boolean;
  readonly plot?: PlotCurve;
  readonly queue?: QueueLine;
}

export type FigureUnit = "count" | "rate" | "ms" | "secs";

/** A curve of the status page; those with the same title share a plot. */
interface PlotCurve {
  readonly title: string;
  readonly label: string;
  readonly unit: FigureUnit;
}

/** A line in the table of queues of the status page. */
interface QueueLine {
  readonly label: string;
  /** What it means if it grows. */
  readonly words: string;
  readonly unit: FigureUnit;
}

/** A figure in the history of a node. */
export interface Series<in Stats = never>
  extends Pick<HistoryDeclaration<never>, "minute" | "plot" | "queue"> {
  readonly name: string;
  readonly isPrivate: boolean;
  /** Reads the value from which a sample is computed. */
  readonly read: (now: Stats) => unknown;
  /** Returns the sample for the time between two of these values; undefined for none. */
  readonly between: (before: unknown, after: unknown, seconds: number) => number | undefined;
}

/** Returns a function that declares figures of these stats. */
export function figureOf<Stats>() {
  return <Value>({ read, metric, status, history, lane }: Declaration<Stats, Value>): Figure<Stats> => {
    const [path, of = (value: Value): unknown => value] =
      typeof status === "string" ? [status] : (status ?? []);
    return {
      ...(metric && { metric: { ...metric, samples: (now: Stats) => metric.samples(read(now)) } }),
      ...(path !== undefined && { status: { path, read: (now: Stats) => of(read(now)) } }),
      ...(history && { series: seriesOf(history, read) }),
      ...(lane && { lane: { name: lane.name, read: (now: Stats) => lane.of(read(now)) } }),
    };
  };
}

function seriesOf<Stats, Value>(
  history: HistoryDeclaration<Value>,
  read: (now: Stats) => Value,
): Series<Stats> {
  const { series: name, rate, between, isPrivate = false, of = (value) => value as number } = history;
  return {
    ...history,
    name,
    isPrivate,
    read: between ? read : (now) => of(read(now)) ?? undefined,
    between(before, after, seconds) {
      if (after === undefined) return undefined;
      if (between) return before === undefined ? undefined : between(before as Value, after as Value);
      if (rate === undefined) return after as number;
      // A part that has not responded has no count, and one that has restarted counts from 0.
      if (before === undefined || Number(after) < Number(before) || seconds <= 0) return undefined;
      return (rate * (Number(after) - Number(before))) / seconds;
    },
  };
}

type Labels = Readonly<Record<string, string | number>>;

/** Samples of a metric: a value for each combination of labels. */
export type Samples = readonly (readonly [labels: Labels, value: number])[];

interface MetricName {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export interface Metric<in Value> extends MetricName {
  readonly samples: (value: Value) => Samples | DurationStats;
}

const ofOne = (value: number | boolean | null | undefined): Samples =>
  value === null || value === undefined ? [] : [[{}, Number(value)]];

/** A gauge. Without a value (null) it has no sample. A boolean is 1 or 0. */
export function gauge(name: string, help: string): Metric<number | boolean | null | undefined> {
  return { type: "gauge", name, help, labels: [], samples: ofOne };
}

/** A gauge per value of a label; none for null. */
export function gaugeBy(
  label: string,
  name: string,
  help: string,
): Metric<Readonly<Record<string, number>> | null> {
  return { type: "gauge", name, help, labels: [label], samples: (value) => byLabel(label, value) };
}

/** A gauge whose samples are computed by the figure. */
export function gauges(name: string, help: string, labels: readonly string[]): Metric<Samples> {
  return { type: "gauge", name, help, labels, samples: (value) => value };
}

/** A counter, which counts from the start of its part. */
export function counter(name: string, help: string): Metric<number> {
  return { type: "counter", name, help, labels: [], samples: ofOne };
}

export function counterBy(
  label: string,
  name: string,
  help: string,
): Metric<Readonly<Record<string, number>>> {
  return { type: "counter", name, help, labels: [label], samples: (value) => byLabel(label, value) };
}

export function counters(name: string, help: string, labels: readonly string[]): Metric<Samples> {
  return { type: "counter", name, help, labels, samples: (value) => value };
}

/** A histogram over the bounds of `CALL_SECONDS`. */
export function durations(name: string, help: string): Metric<DurationStats> {
  return { type: "histogram", name, help, labels: [], samples: (value) => value };
}

function byLabel(label: string, value: Readonly<Record<string, number>> | null): Samples {
  return Object.entries(value ?? {}).map(([of, count]) => [{ [label]: of }, count]);
}

/** The figures of a part with its stats; undefined while it is off or does not respond. */
export interface FigureReport {
  readonly figures: readonly Figure<never>[];
  readonly now: unknown;
}

interface StatusTree {
  [key: string]: unknown;
}

/**
 * Builds `/status` from reports. For a part without stats, what belongs only to it is null: its own section as a whole, and its keys in
 * shared sections.
 */
export function statusOf(reports: readonly FigureReport[]): StatusTree {
  const all = reports.map((report) => ({
    ...report,
    keys: report.figures.flatMap(({ status }) => status ?? []),
  }));
  const owners = new Map<string, Set<number>>();
  for (const [owner, { keys }] of all.entries())
    for (const { path } of keys)
      for (const prefix of prefixesOf(path)) owners.set(prefix, (owners.get(prefix) ?? new Set()).add(owner));
  const status: StatusTree = {};
  for (const { keys, now } of all) {
    for (const { path, read } of keys) {
      if (now !== undefined) put(status, path, read(now as never));
      else put(status, prefixesOf(path).find((prefix) => owners.get(prefix)?.size === 1) ?? path, null);
    }
  }
  return status;
}

/** Returns the prefixes of a path and the path itself, shortest first: `a`, `a.b` and `a.b.c`. */
function prefixesOf(path: string): string[] {
  const names = path.split(".");
  return names.map((_, at) => names.slice(0, at + 1).join("."));
}

function put(tree: StatusTree, path: string, value: unknown): void {
  const names = path.split(".");
  const key = names.pop() ?? "";
  let at = tree;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as StatusTree;
  }
  at[key] = value;
}
