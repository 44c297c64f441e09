import { Counter, Gauge, type Histogram, type Registry } from "prom-client";
import { CALL_SECONDS, type DurationStats } from "./call-durations.ts";
import type { Figure, Metric, Samples } from "./figures.ts";
import type { Metrics } from "./metrics.ts";

/** Registers the metrics of figures. Their stats are read when they are scraped. */
export function registerFigures<Stats>(
  metrics: Metrics,
  figures: readonly Figure<Stats>[],
  stats: () => Promise<Stats> | Stats,
): void {
  for (const { metric } of figures) if (metric) register(metrics, metric, stats);
}

function register<Stats>(
  { registry, prefix }: Metrics,
  metric: Metric<Stats>,
  stats: () => Promise<Stats> | Stats,
): void {
  const { type, help, labels, samples } = metric;
  const name = prefix + metric.name;
  if (type === "histogram") {
    registerHistogram(registry, {
      name,
      help,
      bounds: CALL_SECONDS,
      aggregator: "first",
      async read() {
        const { byDuration, secondsSum } = samples(await stats()) as DurationStats;
        return [{ labels: {}, cumulative: byDuration, sum: secondsSum }];
      },
    });
    return;
  }
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  const read = async () => samples(await stats()) as Samples;
  if (type === "counter") {
    new Counter({
      ...options,
      async collect() {
        const now = await read();
        this.reset();
        for (const [series, value] of now) this.inc(series, value);
      },
    });
    return;
  }
  new Gauge({
    ...options,
    async collect() {
      const now = await read();
      this.reset();
      // Otherwise a gauge without labels would have the value 0.
      if (labels.length === 0 && now.length === 0) this.remove();
      for (const [series, value] of now) this.set(series, value);
    },
  });
}

/** The observations of one series of a histogram. */
export interface HistogramSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** The number of observations up to each bound, followed by that of all. They never decrease. */
  readonly cumulative: readonly number[];
  readonly sum: number;
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Registers a histogram whose observations are counted elsewhere and read when it is scraped. prom-client's own histogram only counts
 * single observations.
 *
 * @param options.bounds upper bounds of the buckets, ascending, without infinity.
 * @param options.aggregator combines the series of several threads: "sum", or "first" if all threads report the same.
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
    // Plain data, because HTTP workers send their samples to the thread that sums them up.
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
