import { Counter, Gauge } from "prom-client";
import { CALL_SECONDS, type DurationStats } from "../lib/call-durations.ts";
import { registerHistogram } from "./histogram.ts";
import type { Metrics } from "./metrics.ts";

/** Registers metrics whose values a worker counts. They are read when they are scraped. */
export interface StatsMetrics<Stats> {
  /** @param collect adds the current stats; the worker counts from its start, as a counter does. */
  counter(
    name: string,
    help: string,
    labelNames: readonly string[],
    collect: (metric: Counter, now: Stats) => void,
  ): void;
  /** A gauge without a value, null, has no sample. */
  gauge(name: string, help: string, read: (now: Stats) => number | null): void;
  /** A gauge for each value of a label; none for null. */
  gaugeBy(
    label: string,
    name: string,
    help: string,
    read: (now: Stats) => Readonly<Record<string, number>> | null,
  ): void;
  /** A histogram over the bounds of `CALL_SECONDS`. */
  durations(name: string, help: string, read: (now: Stats) => DurationStats): void;
}

/** Several threads may scrape the same worker; its stats count once. */
const aggregator = "first";

/** Registers metrics of the stats of another thread. */
export function statsMetrics<Stats>(
  { registry, prefix }: Metrics,
  stats: () => Promise<Stats>,
): StatsMetrics<Stats> {
  const registers = [registry];
  const counter: StatsMetrics<Stats>["counter"] = (name, help, labelNames, collect) => {
    new Counter({
      name: prefix + name,
      aggregator,
      help,
      labelNames: [...labelNames],
      registers,
      async collect() {
        const now = await stats();
        this.reset();
        collect(this, now);
      },
    });
  };
  return {
    counter,
    gauge(name, help, read) {
      new Gauge({
        name: prefix + name,
        aggregator,
        help,
        registers,
        async collect() {
          const value = read(await stats());
          if (value === null) this.remove();
          else this.set(value);
        },
      });
    },
    gaugeBy(label, name, help, read) {
      new Gauge({
        name: prefix + name,
        aggregator,
        help,
        labelNames: [label],
        registers,
        async collect() {
          const values = Object.entries(read(await stats()) ?? {});
          this.reset();
          for (const [value, count] of values) this.set({ [label]: value }, count);
        },
      });
    },
    durations(name, help, read) {
      registerHistogram(registry, {
        name: prefix + name,
        help,
        bounds: CALL_SECONDS,
        aggregator,
        async read() {
          const { byDuration, secondsSum } = read(await stats());
          return [{ labels: {}, cumulative: byDuration, sum: secondsSum }];
        },
      });
    },
  };
}
