import type { FigureRows } from "./figure-ring.ts";
import { SERIES_NAMES, type SeriesName } from "./series.ts";

/** Rows of the history in columns. */
export interface SeriesPage {
  readonly node: string;
  readonly step_secs: number;
  /** Unix seconds, rising. */
  readonly t: readonly number[];
  /** Null where a series had no value. */
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

/** The columns of some series. */
export function seriesPage(
  rows: FigureRows,
  names: readonly SeriesName[],
  { node, stepSecs }: { readonly node: string; readonly stepSecs: number },
): SeriesPage {
  const columnOf = (name: SeriesName) => Array.from(rows.columns[SERIES_NAMES.indexOf(name)] ?? [], rounded);
  return {
    node,
    step_secs: stepSecs,
    t: Array.from(rows.t),
    series: Object.fromEntries(names.map((name) => [name, columnOf(name)])),
  };
}

/** The part of a page that is newer than a time. */
export function pageSince(page: SeriesPage, since: number): SeriesPage {
  const first = page.t.findIndex((t) => t > since);
  if (first === 0) return page;
  const from = first === -1 ? page.t.length : first;
  const series = Object.entries(page.series).map(([name, values]) => [name, values.slice(from)] as const);
  return { ...page, t: page.t.slice(from), series: Object.fromEntries(series) };
}

/** From here on figures have no decimals. */
const WHOLE_FROM = 100_000;

/** A figure with the digits that matter; null for none. */
export function rounded(value: number | undefined): number | null {
  if (value === undefined || !Number.isFinite(value)) return null;
  return Math.abs(value) >= WHOLE_FROM ? Math.round(value) : Math.round(value * 1000) / 1000;
}
