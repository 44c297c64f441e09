import type { CheckFigures } from "./figures.ts";

/**
 * `critical`: users are affected or data is in danger, so act now. `warning`: look at it the same day. `notice`: when there
 * is time.
 */
export type Severity = "critical" | "warning" | "notice";

/** The limits that operators may change, in the setting's units. */
export interface Thresholds {
  readonly index_behind_secs: number;
  readonly disk_free_bytes: number;
  readonly index_percent: number;
  readonly error_percent: number;
  readonly latency_ms: number;
  readonly queue_age_secs: number;
}

/** The value of a check, and the labels that its sentence uses. */
export interface Measured {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A threshold for a value. */
export type Line = { readonly above: number } | { readonly below: number };

/**
 * A row of the table of checks. The Prometheus rules, docs/operate/watch.md, the node's incidents and its pages are all
 * derived from it.
 */
export interface Check {
  /** Never changes, because incidents are stored under it. */
  readonly id: string;
  /** Name of its alert, without the service name. */
  readonly name: string;
  /** A few words, for lists. */
  readonly title: string;
  readonly severity: Severity;
  /** Whether it concerns one node, or the state that nodes share. */
  readonly scope: "node" | "shared";
  /** Whether its incidents are public. */
  readonly isPublic: boolean;
  /**
   * Measures the value; undefined without figures, which neither opens nor resolves an incident. A row without this is for
   * Prometheus only, because a node cannot see it.
   */
  readonly value?: (figures: CheckFigures, thresholds: Thresholds) => Measured | number | undefined;
  /** An incident opens once the value has been beyond this line for the required time. Default: above 0. */
  readonly opens?: Line | ((thresholds: Thresholds) => Line);
  readonly openForSecs: number;
  /** It resolves once the value has been beyond this line for the required time. Default: at or below 0. */
  readonly resolves?: Line | ((thresholds: Thresholds) => Line);
  readonly resolveForSecs: number;
  /**
   * What is wrong, as one sentence about the node, with the Prometheus templates that `sentenceOf` supports: `{{ $value }}`,
   * `{{ $value | humanizeDuration }}`, `{{ $value | humanizePercentage }}` and `{{ $labels.name }}`.
   */
  readonly sentence: string;
  /**
   * When it resolves, as a sentence with `{{ $value | … }}` for the line and `{{ $labels.for }}` for the time beyond it.
   * Default, for a check without a line: when it is over.
   */
  readonly resolution?: string;
  /** How long, in seconds, a check of something that has happened stays above 0 afterwards. */
  readonly quietSecs?: number;
  /** What to do. */
  readonly remedy: string;
  /** The page and heading with details, relative to docs/operate/watch.md. */
  readonly runbook: `${string}.md#${string}`;
  /** The Prometheus rule, which fires for each series of the result. Default: the node's own verdict. */
  readonly promql?: (thresholds: Thresholds) => string;
}

export function isBeyond(value: number, line: Line): boolean {
  return "above" in line ? value > line.above : value < line.below;
}

const OPENS: Line = { above: 0 };
/** The line that every value from 0 down is beyond, and no value above 0. */
const RESOLVES: Line = { below: Number.MIN_VALUE };

/** Returns the lines of a check under these thresholds. */
export function linesOf(
  check: Check,
  thresholds: Thresholds,
): { readonly opens: Line; readonly resolves: Line } {
  const { opens = OPENS, resolves = RESOLVES } = check;
  return {
    opens: typeof opens === "function" ? opens(thresholds) : opens,
    resolves: typeof resolves === "function" ? resolves(thresholds) : resolves,
  };
}

export function sentenceOf({ sentence }: Pick<Check, "sentence">, { value, labels = {} }: Measured): string {
  return sentence
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? "")
    .replaceAll("{{ $value | humanizeDuration }}", durationText(value))
    .replaceAll("{{ $value | humanizePercentage }}", `${Number((value * 100).toPrecision(3))} %`)
    .replaceAll("{{ $value }}", String(Number(value.toPrecision(3))));
}

const MINUTE = 60;
const HOUR = 3600;

export function durationText(secs: number): string {
  if (secs < 2 * MINUTE) return `${Number(secs.toPrecision(3))} s`;
  if (secs < 2 * HOUR) return `${Math.round(secs / MINUTE)} min`;
  return `${Math.round(secs / HOUR)} h`;
}

/** Returns a duration in Prometheus notation. */
export function promDuration(secs: number): string {
  if (secs % HOUR === 0) return `${secs / HOUR}h`;
  return secs % MINUTE === 0 ? `${secs / MINUTE}m` : `${secs}s`;
}

/**
 * Returns the expression for a counter that rose within some seconds. `increase` does not see an event between the start of
 * the process and the first scrape, because the series starts with it. Therefore a counter above 0 in a process younger than
 * the range also counts as having risen.
 */
export function promRose(counter: string, secs: number): string {
  const isYoung = `time() - svc_process_start_time_seconds < ${secs}`;
  return `increase(${counter}[${promDuration(secs)}]) > 0 or ${counter} > 0 and on (job, instance) ${isYoung}`;
}

/**
 * Returns the expression for how much each series of a counter rose within some seconds. `increase` does not see the first
 * value of a series, as for a route whose first response was an error. Therefore the whole value counts if the series is
 * younger than the range.
 */
export function promIncrease(series: string, secs: number): string {
  const range = promDuration(secs);
  return `(${series} unless ${series} offset ${range} or increase(${series}[${range}]))`;
}
