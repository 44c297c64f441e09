import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { ThreadsReport } from "../../operator/reports.ts";
import { useQuery } from "../data/query.ts";
import { PastFigures } from "../moment/figures.tsx";
import { Scrubber, useWindow } from "../moment/scrubber.tsx";
import { nodeOrigin, pageConfig } from "../page-config.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Command } from "../parts/raw-text.tsx";
import { Skeleton } from "../parts/region.tsx";
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
import { OperatorIncidents, useOperatorIncidents } from "./incidents.tsx";
import { LogSearch } from "./log-search.tsx";
import { NoticesCard } from "./notices.tsx";
import { DiskCard, LogCard, SettingsCard, ThreadsCard } from "./reports.tsx";
import { access, enter, lock, lockedBecause, operatorRead, operatorRequest } from "./session.ts";

const PORT = location.port === "" ? "80" : location.port;
const COMMAND = `${pageConfig.service} console`;

/** Says how the page is opened. */
function Locked({ isUnable }: { isUnable: boolean }) {
  const failure = lockedBecause.value;
  return (
    <section class="card">
      <div class="pad stack measure">
        <h2>{msg.thisPageIsLocked}</h2>
        {failure && (
          <div class="failure" role="alert">
            <p>
              <b>{msg.itDidNotOpen}</b> {failure.message}.
            </p>
          </div>
        )}
        {isUnable ? (
          <p>
            {msg.yourBrowserSignsRequestsOnlyOn(
              <code>{`ssh -L ${PORT}:localhost:${PORT} ${location.hostname}`}</code>,
              <code>{`http://localhost:${PORT}/console/operator`}</code>,
            )}
          </p>
        ) : (
          <>
            <p>{msg.thisPageShowsTheOperatorThe(<code>--config</code>, <code>--data-dir</code>)}</p>
            <Command text={COMMAND} />
            <p>{msg.fromAnotherMachineWithSetOn(<code>console.operator_token</code>)}</p>
            <Command text={`${COMMAND} ${nodeOrigin}`} />
            <p class="s dim">{msg.theLinkIsValidForA}</p>
          </>
        )}
        <p class="s">{msg.isPublic(<a href="/console/status">{msg.theStatusOfTheNode}</a>)}</p>
      </div>
    </section>
  );
}

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
      <NoticesCard mayChange={mayChange} />
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
      <SettingsCard />
    </div>
  );
}

/** The operator's page, opened by the link that the command prints. */
export function Page() {
  const { query } = useLocation();
  const range = rangeOf(query);
  const now = access.value;
  useEffect(() => {
    const take = () => void enter();
    take();
    // A link that is opened in the tab of this page changes only the fragment.
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  const isShown = now === "open" || now === "reading";
  return (
    <>
      <PageHead
        title={msg.operator}
        crumbs={[{ label: msg.status, href: "/console/status" }, { label: msg.operator }]}
      >
        {isShown && <RangeNav path={PATH} />}
        {now === "open" && (
          <button type="button" class="btn" onClick={() => void lock()}>
            {msg.lock}
          </button>
        )}
      </PageHead>
      {now === "reading" && (
        <div class="notice boxed">
          <p>{msg.thisIsADemoNetworkSo(<code>{pageConfig.service} console</code>)}</p>
        </div>
      )}
      {now === "asking" && <Skeleton rows={3} height={8} />}
      {isShown && <Node mayChange={now === "open"} range={range} key={now} />}
      {(now === "locked" || now === "unable") && <Locked isUnable={now === "unable"} />}
    </>
  );
}
