import { type Clock, nowSecs, onBeat } from "../../runtime/clock.ts";
import type { Series } from "../../runtime/figures/figures.ts";
import { createHistory, type Figures, SAMPLE_SECS } from "./history.ts";

/** The number of readings over which percentiles of the pulse are computed: one minute. */
const WINDOW_READINGS = 60 / SAMPLE_SECS + 1;

/** What the parts of the node report at one moment, by series name. Counts increase from the start of the process. */
export interface Reading {
  /** Monotonic clock, ms. */
  readonly atMs: number;
  readonly values: ReadonlyMap<string, unknown>;
  /** Counts by `<lane>:<kind>`, which increase from the start of their part. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Samples the figures of the node at fixed intervals. */
export type Sampler = ReturnType<typeof createSampler>;

/** Creates a sampler of series. The caller schedules its samples. */
export function createSampler({
  series,
  read,
  clock,
  onSample = () => {},
}: {
  readonly series: readonly Series[];
  readonly read: () => Promise<Reading>;
  readonly clock: Clock;
  /** Called with each sample and what was counted since the previous one. */
  readonly onSample?: (tSecs: number, figures: Figures, counted: Readonly<Record<string, number>>) => void;
}) {
  const history = createHistory(series);
  const readings: Reading[] = [];
  let latest: Figures = {};

  function between(before: Reading | undefined, after: Reading): Figures {
    const seconds = before ? (after.atMs - before.atMs) / 1000 : 0;
    const figures: Record<string, number> = {};
    for (const { name, between: of } of series) {
      const value = of(before?.values.get(name), after.values.get(name), seconds);
      if (value !== undefined) figures[name] = value;
    }
    return figures;
  }

  return {
    history,
    /** The figures of the last sample. */
    latest: (): Figures => latest,
    /** Returns the figures between the first and the last reading of the last minute; none before the second reading. */
    overMinute(): Figures {
      const last = readings.at(-1);
      return last ? between(readings[0], last) : {};
    },
    /** Takes a sample. */
    async sample(): Promise<void> {
      const reading = await read();
      const before = readings.at(-1);
      latest = between(before, reading);
      readings.push(reading);
      if (readings.length > WINDOW_READINGS) readings.shift();
      const tSecs = nowSecs(clock);
      history.add(tSecs, latest);
      onSample(tSecs, latest, countedBetween(before, reading));
    },
  };
}

/** Returns what was counted between two readings. A part that has restarted counts from 0. */
function countedBetween(before: Reading | undefined, after: Reading): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const [kind, count] of after.counts) {
    const last = before?.counts.get(kind) ?? 0;
    counted[kind] = count < last ? count : count - last;
  }
  return counted;
}

/**
 * Takes a sample now and then at fixed intervals, counted from the end of the previous one.
 *
 * @param onFault called when a sample fails; the next one is taken anyway.
 * @returns a function that stops sampling; resolves once the sample in progress has ended, so that what it reads can be closed.
 */
export function scheduleSamples(
  sampler: Pick<Sampler, "sample">,
  onFault: (cause: unknown) => void,
): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  const take = () => {
    underWay ??= sampler
      .sample()
      .catch(onFault)
      .finally(() => {
        underWay = undefined;
      });
  };
  take();
  const stop = onBeat(SAMPLE_SECS * 1000, take);
  return async () => {
    stop();
    await underWay;
  };
}
