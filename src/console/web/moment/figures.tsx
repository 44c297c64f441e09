import { useState } from "preact/hooks";
import type { HistoryFigures } from "../data/call.ts";
import { useQuery } from "../data/query.ts";
import type { request } from "../data/request.ts";
import { Region } from "../parts/region.tsx";
import { type PlotOf, Plots } from "../plot/plot.tsx";
import * as msg from "../text/en/moment.ts";
import { formatMoment } from "../text/format.ts";
import type { TimeWindow } from "./window.ts";

/** The curves of a past or long time range; live curves poll instead. */
export function PastFigures(props: {
  /** `/history/figures`, public or the operator's. */
  path: string;
  send?: typeof request;
  window: TimeWindow;
  plots: readonly PlotOf[];
}) {
  const { path, send, window, plots } = props;
  const { from, to } = window.selection ?? window;
  const names = plots.flatMap(([, , labels]) => Object.keys(labels));
  const [node, setNode] = useState("");
  const nodeParameter = node === "" ? "" : `&node=${encodeURIComponent(node)}`;
  const query = useQuery<HistoryFigures>(
    { method: "GET", path: `${path}?from=${from}&to=${to}&series=${names.join(",")}${nodeParameter}` },
    { ...(send && { send }), scope: path },
  );
  return (
    <Region
      title={msg.figuresOfThisTime}
      call={undefined}
      query={query}
      aside={
        query.data &&
        query.data.nodes.length > 1 && (
          <select
            aria-label={msg.node}
            value={query.data.node}
            onChange={({ currentTarget }) => setNode(currentTarget.value)}
          >
            {query.data.nodes.map((one) => (
              <option value={one} key={one}>
                {one}
              </option>
            ))}
          </select>
        )
      }
      isEmpty={({ t, gaps }) => t.length < 2 && gaps.length === 0}
      empty={msg.noFigures}
    >
      {({ t, columns, gaps }) => (
        <>
          {gaps.map((gap) => (
            <p class="pad s dim" key={gap.from}>
              {msg.gap(formatMoment(gap.from * 1000), formatMoment(gap.to * 1000), msg.gapWhy[gap.why])}
            </p>
          ))}
          {t.length > 1 && <Plots t={t} columns={columns} plots={plots} />}
        </>
      )}
    </Region>
  );
}
