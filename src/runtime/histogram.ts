import type { Histogram, Registry } from "prom-client";

/** The observations of one series of a histogram. */
export interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** The number of observations up to each bound, then of all. They never decrease. */
  readonly cumulative: readonly number[];
  readonly sum: number;
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Registers a histogram whose observations are counted elsewhere and read when it is scraped. prom-client's own histogram
 * only counts single observations.
 *
 * @param options.bounds upper bounds of the buckets, ascending, without infinity.
 * @param options.aggregator combines the series of several threads: "sum", or "first" when all threads report the same.
 */
export function registerHistogram(
  registry: Registry,
  options: {
    readonly name: string;
    readonly help: string;
    readonly bounds: readonly number[];
    readonly aggregator: "sum" | "first";
    readonly read: () => readonly HistogramSeries[] | Promise<readonly HistogramSeries[]>;
  },
): void {
  const { name, help, bounds, aggregator, read } = options;
  const described = { name, help, type: "histogram", aggregator };
  const histogram = {
    ...described,
    // Plain data: HTTP workers send their samples to the thread that adds them up.
    get: async () => ({
      ...described,
      values: (await read()).flatMap((series) => samplesOf(name, bounds, series)),
    }),
  };
  // The registry only uses a metric's name and samples.
  registry.registerMetric(histogram as unknown as Histogram);
}

function samplesOf(name: string, bounds: readonly number[], series: HistogramSeries): Sample[] {
  const { labels, cumulative, sum } = series;
  const buckets = cumulative.map((value, at) => ({
    metricName: `${name}_bucket`,
    labels: { le: bounds[at] ?? "+Inf", ...labels },
    value,
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: cumulative.at(-1) ?? 0 },
  ];
}
