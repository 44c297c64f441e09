import type { Audience, HistoryQueries } from "../../console/history/queries.ts";
import type { Counts } from "../../history/counts.ts";
import type { Stat } from "../../history/figure-rows.ts";
import type { FiguresQuery, HistoryRpc, LanesPage } from "../../history/rpc.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { mapOk } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Series } from "../../runtime/figures/figures.ts";

/** Events of a node that its users notice. */
const PUBLIC_MARKS: ReadonlySet<string> = new Set(["start", "stop", "crash", "release"]);
const SUFFIX = /\.(mean|max|min)$/;

/** What the main thread provides for the history. */
export interface HistoryQueriesDeps {
  readonly series: readonly Series[];
  /** Counts that have not been passed to `history` yet. */
  readonly pending: () => readonly Counts[];
  readonly clock: Clock;
}

/**
 * Serves queries from the history on the maintenance thread and from the last minute on this one, restricted to what the audience may
 * see.
 */
export function historyQueries(
  history: Pick<RpcClient<HistoryRpc>, "figures" | "nodeFigures" | "nodes" | "lanes" | "log" | "requests">,
  { series: all, pending, clock }: HistoryQueriesDeps,
): HistoryQueries {
  const seriesFor = (audience: Audience, wanted: readonly string[] | undefined): FiguresQuery["series"] => {
    const shown = all.filter(({ isPrivate }) => audience === "operator" || !isPrivate);
    if (!wanted) return shown.map(({ name, minute }) => ({ name, column: name, stat: minute }));
    return wanted.flatMap((column) => {
      const name = column.replace(SUFFIX, "");
      const found = shown.find((series) => series.name === name);
      const stat = SUFFIX.exec(column)?.[1] as Stat | undefined;
      return found ? [{ name, column, stat: stat ?? found.minute }] : [];
    });
  };
  return {
    historyFigures({ from, to, step, series, node }, audience) {
      const query = { from, to, step, series: seriesFor(audience, series) };
      return node === undefined ? history.figures(query) : history.nodeFigures(query, node);
    },
    historyNodes: () => history.nodes(),
    async historyLanes(query, audience) {
      // All three are read in the same turn: counts that are passed on in between would otherwise be in neither or in both.
      const [asked, recent, now] = [history.lanes(query), pending(), nowSecs(clock)];
      const page = mapOk(await asked, (stored) => ({
        ...stored,
        lanes: withPending(stored, recent),
        recorded_until: now,
      }));
      if (audience === "operator") return page;
      return mapOk(page, ({ lanes: { log: _, ...lanes }, marks, kept, ...rest }) => ({
        ...rest,
        lanes,
        kept: { ...kept, log: null },
        marks: marks.filter(({ kind }) => PUBLIC_MARKS.has(kind)),
      }));
    },
    historyLog: (search) => history.log(search),
    historyRequests: (range) => history.requests(range),
  };
}

/** Returns the lanes of a page including counts that are not stored yet. A name is `<lane>:<kind>`. */
function withPending(
  { from, bucket_secs: bucketSecs, buckets, lanes }: LanesPage,
  pending: readonly Counts[],
): LanesPage["lanes"] {
  const sums: Record<string, Record<string, number[]>> = {};
  for (const [lane, kinds] of Object.entries(lanes))
    sums[lane] = Object.fromEntries(Object.entries(kinds).map(([kind, counts]) => [kind, [...counts]]));
  for (const { t, counts } of pending) {
    const bucket = Math.floor((t - from) / bucketSecs);
    if (bucket < 0 || bucket >= buckets) continue;
    for (const [name, count] of Object.entries(counts)) {
      const [lane, kind] = name.split(":");
      if (lane === undefined || kind === undefined || count === 0) continue;
      sums[lane] ??= {};
      sums[lane][kind] ??= new Array<number>(buckets).fill(0);
      sums[lane][kind][bucket] = (sums[lane][kind][bucket] ?? 0) + count;
    }
  }
  return sums;
}
