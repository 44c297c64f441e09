/** Rows of the node's history in columns, as returned by `/console/api/series`. */
export interface SeriesColumns {
  /** The node of the rows; those of two nodes are never mixed. */
  readonly node: string;
  readonly step_secs: number;
  /** Unix seconds, increasing. */
  readonly t: readonly number[];
  /** Null where a series had no value. */
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

/** Adds newer rows, and drops those that are older than the last one by more than the range. */
export function joinSeries(
  old: SeriesColumns | undefined,
  next: SeriesColumns,
  rangeSecs: number,
): SeriesColumns {
  const isContinued = old !== undefined && old.node === next.node && old.step_secs === next.step_secs;
  const last = isContinued ? (old.t.at(-1) ?? 0) : 0;
  const fresh = next.t.findIndex((t) => t > last);
  const from = fresh === -1 ? next.t.length : fresh;
  const t = [...(isContinued ? old.t : []), ...next.t.slice(from)];
  const first = t.findIndex((at) => at > (t.at(-1) ?? 0) - rangeSecs);
  const drop = first === -1 ? 0 : first;
  const series = Object.entries(next.series).map(([name, values]) => {
    const before = isContinued ? (old.series[name] ?? old.t.map(() => null)) : [];
    return [name, [...before, ...values.slice(from)].slice(drop)] as const;
  });
  return { ...next, t: t.slice(drop), series: Object.fromEntries(series) };
}

/** Returns the last value of a series; undefined if it has none. */
export function latestOf(columns: SeriesColumns | undefined, name: string): number | undefined {
  return columns?.series[name]?.at(-1) ?? undefined;
}
