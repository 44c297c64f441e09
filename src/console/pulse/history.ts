import { FigureRing, type FigureRows } from "./figure-ring.ts";
import { type Figures, isPeak, SERIES_NAMES } from "./series.ts";

/** The distance of samples, seconds. */
export const SAMPLE_SECS = 5;
const MINUTE_SECS = 60;
const FINE_ROWS = 3600 / SAMPLE_SECS;
const COARSE_ROWS = 24 * 60;

/** The distances at which the history is sampled: samples for an hour, minutes for a day. */
export type HistoryStep = typeof SAMPLE_SECS | typeof MINUTE_SECS;

/** The figures of the last day, in memory: a restart empties it. */
export interface History {
  add(tSecs: number, figures: Figures): void;
  /** The rows after a time; the columns are those of `SERIES_NAMES`. */
  since(tSecs: number, step: HistoryStep): FigureRows;
  readonly bytes: number;
}

export function createHistory(): History {
  const series = SERIES_NAMES.length;
  const fine = new FigureRing({ series, rows: FINE_ROWS, stepSecs: SAMPLE_SECS });
  const coarse = new FigureRing({ series, rows: COARSE_ROWS, stepSecs: MINUTE_SECS });
  let minute = Number.NaN;
  let samples: (readonly number[])[] = [];

  return {
    add(tSecs, figures) {
      const values = SERIES_NAMES.map((name) => figures[name] ?? Number.NaN);
      fine.add(tSecs, values);
      const now = Math.floor(tSecs / MINUTE_SECS);
      if (now !== minute) {
        if (samples.length > 0) coarse.add(minute * MINUTE_SECS, ofMinute(samples));
        minute = now;
        samples = [];
      }
      samples.push(values);
    },
    since: (tSecs, step) => (step === SAMPLE_SECS ? fine : coarse).since(tSecs),
    bytes: fine.bytes + coarse.bytes,
  };
}

function ofMinute(samples: readonly (readonly number[])[]): number[] {
  return SERIES_NAMES.map((name, at) => {
    const values = samples.flatMap((row) => (Number.isNaN(row[at]) ? [] : [row[at] ?? 0]));
    if (values.length === 0) return Number.NaN;
    if (isPeak(name)) return Math.max(...values);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  });
}
