import type { Samples } from "../runtime/figures/figures.ts";

/**
 * Returns the samples of metrics at one moment, by the name of the metric without the service name; undefined if a part did
 * not respond.
 */
export type ReadMetric = (metric: string) => Samples | undefined;

type Labels = Readonly<Record<string, string | number>>;

/** The figures that the checks read: the current samples, and the past of those that a check has requested before. */
export interface CheckFigures {
  /** Unix seconds. */
  readonly nowSecs: number;
  /** Returns the samples of a metric whose labels match; undefined without figures. */
  samples(metric: string, match?: Labels): Samples | undefined;
  /** Returns the highest of them; undefined if there are none. */
  max(metric: string, match?: Labels): number | undefined;
  /** Returns their sum; undefined without figures, 0 without samples. */
  sum(metric: string, match?: Labels): number | undefined;
  /** Returns how much a counter rose within the last seconds. In a process younger than that, it started at 0. */
  increase(metric: string, secs: number, match?: Labels): number | undefined;
  /** Returns the lowest sum of the last seconds. */
  minOver(metric: string, secs: number): number | undefined;
  /**
   * Returns the predicted sum in `aheadSecs`, on the line through those of the last seconds; undefined before the second
   * one.
   */
  predict(metric: string, secs: number, aheadSecs: number): number | undefined;
}

interface Sample {
  readonly atSecs: number;
  readonly value: number;
}

/** Maximum number of samples in a window, whatever its length. */
const MAX_SAMPLES = 720;

/** The samples of one series within a window, oldest first. */
class Window {
  readonly #secs: number;
  readonly #samples: Sample[] = [];

  constructor(secs: number) {
    this.#secs = secs;
  }

  add(sample: Sample): void {
    const last = this.#samples.at(-1);
    // The clock was set back, so earlier samples have no valid time.
    if (last && sample.atSecs < last.atSecs) this.#samples.length = 0;
    else if (
      last &&
      this.#samples.length > 1 &&
      sample.atSecs - (this.#samples.at(-2)?.atSecs ?? 0) < this.#secs / MAX_SAMPLES
    )
      this.#samples.pop();
    this.#samples.push(sample);
    const from = sample.atSecs - this.#secs;
    while ((this.#samples[0]?.atSecs ?? from) < from) this.#samples.shift();
  }

  get samples(): readonly Sample[] {
    return this.#samples;
  }
}

/** Provides checks with the figures of one reading after another. */
export class FigureWindows {
  readonly #windows = new Map<string, Window>();
  #startSecs = Number.NEGATIVE_INFINITY;

  /** @param startSecs the start of the process, in Unix seconds. */
  at(nowSecs: number, startSecs: number, read: ReadMetric): CheckFigures {
    this.#startSecs = startSecs;
    const samples: CheckFigures["samples"] = (metric, match) => {
      const all = read(metric);
      if (!all || !match) return all;
      const wanted = Object.entries(match);
      return all.filter(([labels]) =>
        wanted.every(([name, value]) => String(labels[name]) === String(value)),
      );
    };
    const sum: CheckFigures["sum"] = (metric, match) =>
      samples(metric, match)?.reduce((total, [, value]) => total + value, 0);
    const window = (kind: string, metric: string, secs: number, match?: Labels) => {
      const value = sum(metric, match);
      if (value === undefined) return undefined;
      const key = `${kind} ${metric} ${secs} ${JSON.stringify(match)}`;
      const known = this.#windows.get(key) ?? new Window(secs);
      this.#windows.set(key, known);
      known.add({ atSecs: nowSecs, value });
      return known.samples;
    };
    return {
      nowSecs,
      samples,
      sum,
      max(metric, match) {
        const values = samples(metric, match)?.map(([, value]) => value) ?? [];
        return values.length === 0 ? undefined : Math.max(...values);
      },
      increase: (metric, secs, match) => {
        const taken = window("increase", metric, secs, match);
        return taken && this.#increaseOf(taken, nowSecs - secs);
      },
      minOver(metric, secs) {
        const taken = window("min", metric, secs);
        return taken && Math.min(...taken.map(({ value }) => value));
      },
      predict(metric, secs, aheadSecs) {
        if ((samples(metric)?.length ?? 0) === 0) return undefined;
        const taken = window("predict", metric, secs);
        return taken && predicted(taken, nowSecs + aheadSecs);
      },
    };
  }

  #increaseOf(samples: readonly Sample[], fromSecs: number): number {
    const [first] = samples;
    let total = first && this.#startSecs >= fromSecs ? first.value : 0;
    for (const [at, { value }] of samples.entries()) {
      const before = samples[at - 1]?.value;
      // A counter that decreased was restarted with its process.
      if (before !== undefined) total += value < before ? value : value - before;
    }
    return total;
  }
}

/** Returns the value of the least-squares line at a time. */
function predicted(samples: readonly Sample[], atSecs: number): number | undefined {
  const [first] = samples;
  if (!first || samples.length < 2) return undefined;
  const count = samples.length;
  // Relative to the first sample, because Unix seconds squared would lose digits.
  let sumT = 0;
  let sumV = 0;
  let sumTT = 0;
  let sumTV = 0;
  for (const sample of samples) {
    const t = sample.atSecs - first.atSecs;
    const v = sample.value - first.value;
    sumT += t;
    sumV += v;
    sumTT += t * t;
    sumTV += t * v;
  }
  const spread = count * sumTT - sumT * sumT;
  if (spread === 0) return undefined;
  const slope = (count * sumTV - sumT * sumV) / spread;
  return first.value + (sumV - slope * sumT) / count + slope * (atSecs - first.atSecs);
}
