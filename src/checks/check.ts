import type { CheckFigures } from "./figures.ts";

/** `critical`: users are affected, or data is in danger: act now. `warning`: look at it on the same day. `notice`: when there is time. */
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

/** What a check measures, and the labels that its sentence names. */
export interface Measured {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A line that a value crosses. */
export type Line = { readonly above: number } | { readonly below: number };

/**
 * A row of the table of checks. The rules of Prometheus, docs/operate/watch.md, the incidents of the node and its pages follow from it.
 */
export interface Check {
  /** Never changes: incidents are stored under it. */
  readonly id: string;
  /** The name of its alert, without that of the service. */
  readonly name: string;
  /** A few words for a list. */
  readonly title: string;
  readonly severity: Severity;
  /** Whether it is about one node, or about the state that nodes share. */
  readonly scope: "node" | "shared";
  /** Whether anybody sees its incidents. */
  readonly isPublic: boolean;
  /**
   * Measures it; undefined without figures, which neither opens nor resolves an incident. A row without this is for Prometheus only:
   * a node cannot see it.
   */
  readonly value?: (figures: CheckFigures, thresholds: Thresholds) => Measured | number | undefined;
  /** An incident opens once the value was beyond this line for so long. Default: above 0. */
  readonly opens?: Line | ((thresholds: Thresholds) => Line);
  readonly openForSecs: number;
  /** It resolves once the value was beyond this line for so long. Default: at or below 0. */
  readonly resolves?: Line | ((thresholds: Thresholds) => Line);
  readonly resolveForSecs: number;
  /**
   * What is wrong, as one sentence about the node, with the templates of Prometheus that `sentenceOf` knows: `{{ $value }}`,
   * `{{ $value | humanizeDuration }}`, `{{ $value | humanizePercentage }}` and `{{ $labels.name }}`.
   */
  readonly sentence: string;
  /**
   * When it resolves, in a sentence with `{{ $value | … }}` for the line and `{{ $labels.for }}` for the time beyond it. Default, for a
   * check without a line: when it is over.
   */
  readonly resolution?: string;
  /** How long a check of what has happened stays above 0 after it, seconds. */
  readonly quietSecs?: number;
  /** What to do. */
  readonly remedy: string;
  /** The page and heading that say more, relative to docs/operate/watch.md. */
  readonly runbook: `${string}.md#${string}`;
  /** The rule of Prometheus; it fires for each series of the result. Default: the node's own verdict. */
  readonly promql?: (thresholds: Thresholds) => string;
}

export function isBeyond(value: number, line: Line): boolean {
  return "above" in line ? value > line.above : value < line.below;
}

const OPENS: Line = { above: 0 };
/** The smallest number that a value above 0 is not below: every value from 0 down. */
const RESOLVES: Line = { below: Number.MIN_VALUE };

/** The lines of a check under these thresholds. */
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

/** A length of time in the notation of Prometheus. */
export function promDuration(secs: number): string {
  if (secs % HOUR === 0) return `${secs / HOUR}h`;
  return secs % MINUTE === 0 ? `${secs / MINUTE}m` : `${secs}s`;
}

/**
 * The expression for a counter that rose within some seconds. `increase` does not see an event between the start of the process and the
 * first scrape, because the series begins with it: a counter above 0 of a process that is younger than the range rose within it.
 */
export function promRose(counter: string, secs: number): string {
  const isYoung = `time() - svc_process_start_time_seconds < ${secs}`;
  return `increase(${counter}[${promDuration(secs)}]) > 0 or ${counter} > 0 and on (job, instance) ${isYoung}`;
}

/**
 * The expression for how much each series of a counter rose within some seconds. `increase` does not see what a series begins with, as
 * one of a route does whose first response was an error: all of a series counts that is younger than the range.
 */
export function promIncrease(series: string, secs: number): string {
  const range = promDuration(secs);
  return `(${series} unless ${series} offset ${range} or increase(${series}[${range}]))`;
}
