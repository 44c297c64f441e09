import { Counter, Gauge } from "prom-client";
import { CALL_SECONDS, type DurationStats } from "../lib/call-durations.ts";
import { registerHistogram } from "./histogram.ts";
import type { Metrics } from "./metrics.ts";

/** Metrics that a worker counts and that are asked for when somebody scrapes. */
export interface StatsMetrics<Figures> {
  /** @param collect adds what the figures say; the worker counts since its start, as a counter does. */
  counter(
    name: string,
    help: string,
    labelNames: readonly string[],
    collect: (metric: Counter, now: Figures) => void,
  ): void;
  gauge(name: string, help: string, read: (now: Figures) => number): void;
  /** A gauge for each value of a label. */
  gaugeBy(
    label: string,
    name: string,
    help: string,
    read: (now: Figures) => Readonly<Record<string, number>>,
  ): void;
  /** A histogram over the bounds of `CALL_SECONDS`. */
  durations(name: string, help: string, read: (now: Figures) => DurationStats): void;
}

/** Several threads may ask the same worker; its figures are told once. */
const aggregator = "first";

/** Registers metrics over the figures of another thread. */
export function statsMetrics<Figures>(
  { registry, prefix }: Metrics,
  figures: () => Promise<Figures>,
): StatsMetrics<Figures> {
  const registers = [registry];
  const counter: StatsMetrics<Figures>["counter"] = (name, help, labelNames, collect) => {
    new Counter({
      name: prefix + name,
      aggregator,
      help,
      labelNames: [...labelNames],
      registers,
      async collect() {
        const now = await figures();
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
          this.set(read(await figures()));
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
          for (const [value, count] of Object.entries(read(await figures())))
            this.set({ [label]: value }, count);
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
          const { byDuration, secondsSum } = read(await figures());
          return [{ labels: {}, cumulative: byDuration, sum: secondsSum }];
        },
      });
    },
  };
}
