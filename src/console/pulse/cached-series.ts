import { oncePer } from "../../lib/once-per.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { type HistoryStep, SAMPLE_SECS } from "./history.ts";
import { pageSince, type SeriesPage } from "./series-page.ts";

type ReadSeries = (step: HistoryStep, since: number) => Promise<SeriesPage>;

/** Rows of a shorter time are few, so they are read each time. */
const SHORT_SECS = 900;

/**
 * Reads the history for any number of pages: the whole of it is made at most once in the time of a sample, because that costs the
 * main thread milliseconds.
 */
export function createCachedSeries(read: ReadSeries, clock: Clock): ReadSeries {
  const whole = (step: HistoryStep) => oncePer(SAMPLE_SECS * 1000, () => read(step, 0));
  const wholes = { 5: whole(5), 60: whole(60) } as const;
  return async (step, since) => {
    if (nowSecs(clock) - since < SHORT_SECS) return read(step, since);
    return pageSince(await wholes[step](), since);
  };
}
