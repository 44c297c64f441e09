import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Pulse } from "../data/pulse.ts";
import { latestOf, type SeriesColumns } from "../data/series.ts";
import { pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { PausedNotices } from "../parts/paused-notice.tsx";
import { Plot } from "../parts/plot.tsx";
import type { PlotSeries } from "../parts/plot-series.ts";
import { CallButton } from "../parts/region.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Collecting, isCollecting } from "./collecting.tsx";
import { formatMs, formatRate, QUEUES } from "./figures.ts";
import { NowCard, StaleNotice } from "./now-card.tsx";
import { RangeNav } from "./range-nav.tsx";
import { type Range, rangeOf } from "./ranges.ts";
import { seriesCall, useHistory } from "./use-history.ts";

const PATH = "/console/status";
const SERIES_PATH = "/console/api/series";
const SPARK_POINTS = 60;

interface Answer extends SeriesColumns {
  readonly pulse: Pulse;
}

const curve = (columns: SeriesColumns, name: string, label: string): PlotSeries => ({
  name: label,
  values: columns.series[name] ?? [],
});

function Plots({ columns }: { columns: SeriesColumns }) {
  const { t } = columns;
  return (
    <div class="plots pad">
      <Plot
        title="Requests a second"
        t={t}
        series={[curve(columns, "requests_per_second", "requests")]}
        format={formatRate}
      />
      <Plot
        title="Time to answer"
        t={t}
        series={[curve(columns, "p50_ms", "median"), curve(columns, "p99_ms", "99th percentile")]}
        format={formatMs}
      />
      <Plot
        title="Messages merged a second"
        t={t}
        series={[curve(columns, "merged_per_second", "messages and events")]}
        format={formatRate}
      />
      <Plot
        title="Refusals and errors a minute"
        t={t}
        series={[
          curve(columns, "refused_per_minute", "refused (4xx)"),
          curve(columns, "errors_per_minute", "errors (5xx)"),
        ]}
        format={formatRate}
      />
      <Plot
        title="Calls to others a second"
        t={t}
        series={[
          curve(columns, "deliveries_per_second", "webhook attempts"),
          curve(columns, "pushes_per_second", "push tokens"),
        ]}
        format={formatRate}
      />
      <Plot
        title="Waiting"
        t={t}
        series={[
          curve(columns, "ingest_queued", "records"),
          curve(columns, "outbox_events", "events"),
          curve(columns, "deliveries_waiting", "deliveries"),
        ]}
        format={formatRate}
      />
    </div>
  );
}

/** Values for a small curve: the highest of each stretch, since short queues matter. */
function sparkValues(values: readonly (number | null)[]): number[] {
  const size = Math.max(1, Math.ceil(values.length / SPARK_POINTS));
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    Math.max(...values.slice(at * size, (at + 1) * size).map((value) => value ?? 0)),
  );
}

function Queues({ columns, range }: { columns: SeriesColumns; range: Range }) {
  const shown = QUEUES.filter(({ name }) => latestOf(columns, name) !== undefined);
  return (
    <DataTable
      label="Where the node waits"
      rows={shown}
      keyOf={({ name }) => name}
      columns={[
        {
          title: "What",
          cell: ({ label, words }) => (
            <>
              {label}
              <span class="dim s words"> {words}</span>
            </>
          ),
        },
        {
          title: "Now",
          isNumber: true,
          cell: ({ name, format }) => <b>{format(latestOf(columns, name) ?? 0)}</b>,
        },
        {
          title: range.title,
          cell: ({ name, label }) => (
            <Sparkline
              values={sparkValues(columns.series[name] ?? [])}
              label={`${label}, ${range.title.toLowerCase()}`}
            />
          ),
        },
      ]}
    />
  );
}

/** The state of the node for everybody: ready or why not, rates, response times, errors and queues over time. */
export function Page() {
  const { query } = useLocation();
  const range = rangeOf(query);
  const history = useHistory<Answer>(SERIES_PATH, range);
  const [isOpen, setOpen] = useState(false);
  const { data, error, isStale: isOld } = history;
  const call = seriesCall(SERIES_PATH, range, 0);
  return (
    <>
      <PageHead title="Status">
        <RangeNav path={PATH} selected={range} />
        <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      </PageHead>
      <div class="stack">
        <StaleNotice history={history} hasFigures={data !== undefined} />
        {data && <PausedNotices paused={data.pulse.paused} />}
        {isOpen && <CallPanel call={call} />}
        {data ? (
          <>
            <NowCard pulse={data.pulse} history={history} />
            <section class={`card ${isOld ? "old" : ""}`}>
              <header>
                <h2 class="grow">Over time</h2>
              </header>
              {isCollecting(data) ? <Collecting columns={data} /> : <Plots columns={data} />}
            </section>
            <section class={`card ${isOld ? "old" : ""}`}>
              <header>
                <h2 class="grow">Where the node waits</h2>
              </header>
              <Queues columns={data} range={range} />
            </section>
          </>
        ) : (
          !error && <Skeleton rows={3} height={10} />
        )}
        <p class="s dim">
          {data && `The figures are those of node ${data.node}, in its memory since it started. `}
          Programs read the same from{" "}
          <a href="/status" target="_self">
            /status
          </a>
          ,{" "}
          <a href="/ready" target="_self">
            /ready
          </a>{" "}
          and{" "}
          <a href="/metrics" target="_self">
            /metrics
          </a>
          .{" "}
          {pageConfig.operator && (
            <>
              You run this node? <a href="/console/operator">Threads, log, settings and backups</a> are on the
              operator's page.
            </>
          )}
        </p>
      </div>
    </>
  );
}
