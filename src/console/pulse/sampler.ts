import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { createHistory, type History, SAMPLE_SECS } from "./history.ts";
import { bucketsBetween, figuresBetween, quantileMs, type Reading } from "./reading.ts";
import type { Figures } from "./series.ts";

/** The samples whose responses the percentiles of the pulse are of: a minute. */
const WINDOW_READINGS = 60 / SAMPLE_SECS + 1;

/** Response times of the last minute; null while there were no responses. */
export interface ResponseTimes {
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** Takes the figures of the node at fixed distances. */
export interface Sampler {
  readonly history: Pick<History, "since">;
  /** The figures of the last sample. */
  latest(): Figures;
  responseTimes(): ResponseTimes;
  /** Takes a sample. */
  sample(): Promise<void>;
}

/** Creates a sampler. The caller schedules its samples. */
export function createSampler({
  read,
  clock,
}: {
  readonly read: () => Promise<Reading>;
  readonly clock: Clock;
}): Sampler {
  const history = createHistory();
  const readings: Reading[] = [];
  let latest: Figures = {};

  return {
    history,
    latest: () => latest,
    responseTimes() {
      const [first] = readings;
      const last = readings.at(-1);
      if (!first || !last) return { p50Ms: null, p99Ms: null };
      const buckets = bucketsBetween(first.http, last.http);
      const { boundsSecs } = last.http;
      return {
        p50Ms: quantileMs(boundsSecs, buckets, 0.5) ?? null,
        p99Ms: quantileMs(boundsSecs, buckets, 0.99) ?? null,
      };
    },
    async sample() {
      const reading = await read();
      const before = readings.at(-1);
      latest = before ? figuresBetween(before, reading) : reading.now;
      readings.push(reading);
      if (readings.length > WINDOW_READINGS) readings.shift();
      history.add(nowSecs(clock), latest);
    },
  };
}

/**
 * Takes a sample now and then at fixed distances, counted from the end of the one before.
 *
 * @param onFault called when a sample fails; the next one is taken nevertheless.
 * @returns stops taking samples.
 */
export function scheduleSamples(
  sampler: Pick<Sampler, "sample">,
  onFault: (cause: unknown) => void,
): () => void {
  let isTaking = false;
  const take = () => {
    if (isTaking) return;
    isTaking = true;
    void sampler
      .sample()
      .catch(onFault)
      .finally(() => {
        isTaking = false;
      });
  };
  const timer = setInterval(take, SAMPLE_SECS * 1000);
  take();
  return () => clearInterval(timer);
}
