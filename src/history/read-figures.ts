import type { SideDatabase } from "../db/side/side-database.ts";
import { marksBetween, watchedSince } from "./events/marks.ts";
import { atDistance, columnOf, type FigureStep, KEPT_SECS, oldestRow, readRows } from "./figure-rows.ts";
import { readNames } from "./names.ts";
import type { FiguresPage, FiguresQuery, Gap } from "./rpc.ts";

/** Maximum number of rows per response. */
export const MAX_POINTS = 2_000;
const STEPS: readonly FigureStep[] = [5, 60, 3600];
const HOUR_SECS = 3600;
/** Rows more than this many steps apart have a gap between them. */
const GAP_STEPS = 3;
/** How late the newest rows may be, since they arrive once a minute. */
const LATE_SECS = 130;
/** Figures from this value on are rounded to integers. */
const WHOLE_FROM = 100_000;

/** Reports whether an interval is so small that a range would have too many rows. */
export function isTooFine(from: number, to: number, step: FigureStep): boolean {
  return (to - from) / step > MAX_POINTS;
}

/** Returns the rows of a range at a given interval, or at the smallest one that is kept and gives at most 2,000. */
export function readFigures(db: SideDatabase, query: FiguresQuery, now: number): FiguresPage {
  const { from, series } = query;
  const to = Math.min(query.to, now + 1);
  const step = query.step === "auto" ? finest(from, to, now) : query.step;
  const distance = Math.max(1, Math.ceil((to - from) / step / MAX_POINTS)) * step;
  const ids = readNames(db);
  const wanted = series.flatMap(({ name, column, stat }) => {
    const id = ids.get(name);
    return id === undefined ? [] : [{ column, key: columnOf(id, step === 5 ? "mean" : stat) }];
  });
  const keys = new Set(wanted.map(({ key }) => key));
  const stored = readRows(db, step, from, to, (key) => keys.has(key));
  const { t, columns } = distance === step ? stored : atDistance(stored, distance);
  const page: [string, (number | null)[]][] = [];
  for (const { column, key } of wanted) {
    const values = columns.get(key);
    if (values) page.push([column, Array.from(values, rounded)]);
  }
  return {
    step: distance,
    t,
    columns: Object.fromEntries(page),
    gaps: gapsOf(db, { from, to, now, step, distance, t }),
  };
}

function finest(from: number, to: number, now: number): FigureStep {
  return STEPS.find((step) => !isTooFine(from, to, step) && from >= now - KEPT_SECS[step]) ?? HOUR_SECS;
}

interface Rows {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly step: FigureStep;
  readonly distance: number;
  readonly t: readonly number[];
}

function gapsOf(db: SideDatabase, { from, to, now, step, distance, t }: Rows): Gap[] {
  const gaps: Gap[] = [];
  const known = watchedSince(db) ?? now;
  const kept = oldestRow(db, step) ?? now;
  const end = Math.min(to, now - LATE_SECS - step);
  let last = from;
  for (const at of [...t, end]) {
    const isAfterRow = last !== from || t[0] === from;
    if (at - last > GAP_STEPS * distance) {
      // A row of a minute or an hour is dated at its start.
      const begin = isAfterRow ? last + distance : last;
      gaps.push({ from: begin, to: at, why: reasonForGap(db, begin, at, { known, kept }) });
    }
    last = Math.max(last, at);
  }
  return gaps;
}

/** Returns why there are no figures for a time. */
function reasonForGap(
  db: SideDatabase,
  from: number,
  to: number,
  { known, kept }: { readonly known: number; readonly kept: number },
): Gap["why"] {
  if (to <= known + HOUR_SECS && from < known) return "not_watched";
  if (to <= kept) return "not_kept";
  const kinds = marksBetween(db, from - HOUR_SECS, to).map(({ kind }) => kind);
  if (kinds.findLast((kind) => kind === "crash" || kind === "stop") === "crash") return "crashed";
  return kinds.includes("stop") ? "stopped" : "no_figures";
}

function rounded(value: number): number | null {
  if (!Number.isFinite(value)) return null;
  return Math.abs(value) >= WHOLE_FROM ? Math.round(value) : Math.round(value * 1000) / 1000;
}
