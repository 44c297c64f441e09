import type { Audience, HistoryQueries } from "../../console/history/queries.ts";
import type { Stat } from "../../history/figure-rows.ts";
import type { FiguresQuery, HistoryRpc } from "../../history/rpc.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { mapOk } from "../../lib/result.ts";
import type { Series } from "../../runtime/figures/figures.ts";

/** What happened to a node that its users notice. */
const PUBLIC_MARKS: ReadonlySet<string> = new Set(["start", "stop", "crash", "release"]);
const SUFFIX = /\.(mean|max|min)$/;

/** Serves queries for the history from the maintenance thread, with what the audience may see. */
export function historyQueries(
  history: Pick<RpcClient<HistoryRpc>, "figures" | "nodeFigures" | "nodes" | "lanes" | "log" | "requests">,
  all: readonly Series[],
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
      const page = await history.lanes(query);
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
