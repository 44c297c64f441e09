import { useLocation } from "preact-iso";
import type { ThreadsReport } from "../../operator/reports.ts";
import { useQuery } from "../data/query.ts";
import { PastFigures } from "../moment/figures.tsx";
import { Scrubber, useWindow } from "../moment/scrubber.tsx";
import { pageConfig } from "../page-config.ts";
import type { PlotOf } from "../plot/plot.tsx";
import {
  HistoryCard,
  isPast,
  type Range,
  RangeNav,
  rangeOf,
  StaleNotice,
  useHistory,
} from "../status/history.tsx";
import type { SeriesColumns } from "../status/series.ts";
import { SinceCard } from "../status/since.tsx";
import * as msg from "../text/en/status.ts";
import { formatBytes, formatMs, formatPercent, formatSecs } from "../text/format.ts";
import { BackupsCard, PausesCard } from "./changes.tsx";
import { OperatorGate } from "./gate.tsx";
import { OperatorIncidents, useOperatorIncidents } from "./incidents.tsx";
import { LogSearch } from "./log-search.tsx";
import { NoticesCard } from "./notices.tsx";
import { DiskCard, LogCard, ThreadsCard } from "./reports.tsx";
import { operatorRead, operatorRequest } from "./session.ts";

const PATH = "/console/operator";
const EVERY_MS = 5_000;

const signedRead: typeof operatorRequest = (call, options) =>
  operatorRequest({ ...call, op: "console.read" }, options);

const PLOTS: readonly PlotOf[] = [
  [msg.eventLoopDelayP99, formatMs, { loop_http_ms: "http", loop_ingest_ms: "ingest", loop_main_ms: "main" }],
  [msg.cpuOfOneCore, formatPercent, { cpu_percent: msg.process }],
  [msg.memory, formatBytes, { resident_bytes: msg.resident }],
  [msg.writeAheadLogs, formatBytes, { index_wal_bytes: msg.index, state_wal_bytes: msg.state }],
];

function Node({ mayChange, range }: { mayChange: boolean; range: Range }) {
  const threads = useQuery(operatorRead<ThreadsReport>("/workers"), {
    send: operatorRequest,
    everyMs: EVERY_MS,
  });
  const { query } = useLocation();
  const window = useWindow();
  const incidents = useOperatorIncidents();
  const history = useHistory<SeriesColumns>("/console/op/series", range, signedRead);
  return (
    <div class="stack">
      <StaleNotice history={history} />
      {pageConfig.history && (
        <>
          <SinceCard path="/console/op/history/since" send={signedRead} />
          <Scrubber
            path="/console/op/history/lanes"
            send={signedRead}
            incidents={incidents.data?.incidents ?? []}
          />
        </>
      )}
      <OperatorIncidents mayChange={mayChange} />
      {mayChange && <NoticesCard mayChange />}
      <ThreadsCard query={threads} />
      {threads.data && (
        <p class="s dim">
          {msg.nodeUpThisPageShowsThis(threads.data.node, formatSecs(threads.data.uptime_secs))}
        </p>
      )}
      {isPast(query, window) ? (
        <PastFigures path="/console/op/history/figures" send={signedRead} window={window} plots={PLOTS} />
      ) : (
        <HistoryCard history={history} plots={PLOTS} />
      )}
      <div class="split even">
        <DiskCard query={threads} />
        <PausesCard query={threads} mayChange={mayChange} />
      </div>
      {window.selection ? (
        <LogSearch range={window.selection} />
      ) : (
        <LogCard
          aside={
            pageConfig.history && (
              <button type="button" class="btn quiet" onClick={() => window.select(window)}>
                {msg.searchTheLog}
              </button>
            )
          }
        />
      )}
      <BackupsCard mayChange={mayChange} />
    </div>
  );
}

/** The operator's page. */
export function Page() {
  const { query } = useLocation();
  return (
    <OperatorGate
      title={msg.operator}
      crumbs={[{ label: msg.status, href: "/console/status" }, { label: msg.operator }]}
      head={
        <>
          <RangeNav path={PATH} />
          <a class="btn" href="/console/operator/settings">
            {msg.settings}
          </a>
        </>
      }
    >
      {(mayChange) => <Node mayChange={mayChange} range={rangeOf(query)} />}
    </OperatorGate>
  );
}
