import { choice, integer, optional } from "../../http/request/params.ts";
import { oncePer } from "../../lib/promises.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Series } from "../../runtime/figures/figures.ts";
import { type FigureRows, type HistoryStep, SAMPLE_SECS } from "./history.ts";

const MAX_UNIX_SECS = 99_999_999_999;

/** The parameters of a request for the history: the rows after `since` (unix seconds), in steps of 5 or 60 seconds. */
export const seriesQuery = {
  params: {
    since: optional(integer({ min: 0, max: MAX_UNIX_SECS }), 0),
    step: optional(choice(["5", "60"]), "5"),
  },
};

/** Returns the step that a request names. */
export function stepOf({ step }: { readonly step: "5" | "60" }): HistoryStep {
  return step === "5" ? 5 : 60;
}

type ReadSeries = (step: HistoryStep, since: number) => Promise<SeriesPage>;

/** A shorter range has few rows, so it is read each time. */
const SHORT_SECS = 900;

/**
 * Returns a cached read of the history for any number of pages: all of it is read at most once per sample, because that costs the main
 * thread milliseconds.
 */
export function createCachedSeries(read: ReadSeries, clock: Clock): ReadSeries {
  const whole = (step: HistoryStep) => oncePer(SAMPLE_SECS * 1000, () => read(step, 0));
  const wholes = { 5: whole(5), 60: whole(60) } as const;
  return async (step, since) => {
    if (nowSecs(clock) - since < SHORT_SECS) return read(step, since);
    return pageSince(await wholes[step](), since);
  };
}

/** Rows of the history, as columns. */
export interface SeriesPage {
  readonly node: string;
  readonly step_secs: number;
  /** Unix seconds, increasing. */
  readonly t: readonly number[];
  /** Null where a series had no value. */
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
  /** How the status page displays the series, with the first rows that it requests. */
  readonly shown?: readonly ShownFigure[];
}

/** A figure as displayed on the status page. */
export type ShownFigure = Pick<Series, "name" | "plot" | "queue">;

/** Returns the columns of some series from rows that contain all. */
export function seriesPage<S extends Pick<Series, "name">>(
  rows: FigureRows,
  all: readonly S[],
  {
    node,
    stepSecs,
    isShown = () => true,
  }: { readonly node: string; readonly stepSecs: number; readonly isShown?: (series: S) => boolean },
): SeriesPage {
  const columns = all.flatMap((series, at) =>
    isShown(series) ? [[series.name, Array.from(rows.columns[at] ?? [], rounded)] as const] : [],
  );
  return { node, step_secs: stepSecs, t: Array.from(rows.t), series: Object.fromEntries(columns) };
}

/** Returns the part of a page that is newer than a time. */
export function pageSince(page: SeriesPage, since: number): SeriesPage {
  const first = page.t.findIndex((t) => t > since);
  if (first === 0) return page;
  const from = first === -1 ? page.t.length : first;
  const series = Object.entries(page.series).map(([name, values]) => [name, values.slice(from)] as const);
  return { ...page, t: page.t.slice(from), series: Object.fromEntries(series) };
}

/** From this value on, figures have no decimals. */
const WHOLE_FROM = 100_000;

/** Rounds a figure to its significant digits; null for none. */
export function rounded(value: number | undefined): number | null {
  if (value === undefined || !Number.isFinite(value)) return null;
  return Math.abs(value) >= WHOLE_FROM ? Math.round(value) : Math.round(value * 1000) / 1000;
}
