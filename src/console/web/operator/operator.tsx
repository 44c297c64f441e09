import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { ThreadsReport } from "../../operator/reports.ts";
import { formatBytes, formatSecs } from "../data/format.ts";
import { useQuery } from "../data/query.ts";
import type { SeriesColumns } from "../data/series.ts";
import { pageConfig } from "../page-config.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Plot } from "../parts/plot.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Collecting, isCollecting } from "../status/collecting.tsx";
import { formatMs, formatPercent } from "../status/figures.ts";
import { StaleNotice } from "../status/now-card.tsx";
import { RangeNav } from "../status/range-nav.tsx";
import { type Range, rangeOf } from "../status/ranges.ts";
import { useHistory } from "../status/use-history.ts";
import { BackupsCard } from "./backups-card.tsx";
import { Locked } from "./locked.tsx";
import { LogCard } from "./log-card.tsx";
import { PausesCard } from "./pauses-card.tsx";
import { access, enter, lock, operatorRead, operatorRequest } from "./session.ts";
import { SettingsCard } from "./settings-card.tsx";
import { DiskCard, ThreadsCard } from "./threads-card.tsx";

const PATH = "/console/operator";
const EVERY_MS = 5_000;

const signedRead: typeof operatorRequest = (call, options) =>
  operatorRequest({ ...call, op: "console.read" }, options);

function Plots({ columns: { t, series } }: { columns: SeriesColumns }) {
  const values = (name: string) => series[name] ?? [];
  return (
    <div class="plots pad">
      <Plot
        title="Delay of event loops, 99th percentile"
        t={t}
        series={[
          { name: "http", values: values("loop_http_ms") },
          { name: "ingest", values: values("loop_ingest_ms") },
          { name: "main", values: values("loop_main_ms") },
        ]}
        format={formatMs}
      />
      <Plot
        title="CPU, of one core"
        t={t}
        series={[{ name: "process", values: values("cpu_percent") }]}
        format={formatPercent}
      />
      <Plot
        title="Memory"
        t={t}
        series={[{ name: "resident", values: values("resident_bytes") }]}
        format={formatBytes}
      />
      <Plot
        title="Write-ahead logs"
        t={t}
        series={[
          { name: "index", values: values("index_wal_bytes") },
          { name: "state", values: values("state_wal_bytes") },
        ]}
        format={formatBytes}
      />
    </div>
  );
}

function Node({ mayChange, range }: { mayChange: boolean; range: Range }) {
  const threads = useQuery<ThreadsReport>(operatorRead("/workers"), {
    send: operatorRequest,
    everyMs: EVERY_MS,
  });
  const history = useHistory<SeriesColumns>("/console/op/series", range, signedRead);
  return (
    <div class="stack">
      <StaleNotice history={history} hasFigures={history.data !== undefined} />
      <ThreadsCard query={threads} />
      {threads.data && (
        <p class="s dim">
          Node {threads.data.node}, up {formatSecs(threads.data.uptime_secs)}. This page shows this node only.
        </p>
      )}
      <section class={`card ${history.isStale ? "old" : ""}`}>
        <header>
          <h2 class="grow">Over time</h2>
        </header>
        {!history.data ? (
          <Skeleton rows={2} height={10} />
        ) : isCollecting(history.data) ? (
          <Collecting columns={history.data} />
        ) : (
          <Plots columns={history.data} />
        )}
      </section>
      <div class="split even">
        <DiskCard query={threads} />
        <PausesCard query={threads} mayChange={mayChange} />
      </div>
      <LogCard />
      <BackupsCard mayChange={mayChange} />
      <SettingsCard />
    </div>
  );
}

/** The node for the one who runs it, behind the link that the command prints. */
export function Page() {
  const { query } = useLocation();
  const range = rangeOf(query);
  const now = access.value;
  useEffect(() => {
    const take = () => void enter();
    take();
    // A link that is opened in the tab of this page changes the fragment alone.
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  const isShown = now === "open" || now === "reading";
  return (
    <>
      <PageHead
        title="Operator"
        crumbs={[{ label: "Status", href: "/console/status" }, { label: "Operator" }]}
      >
        {isShown && <RangeNav path={PATH} selected={range} />}
        {now === "open" && (
          <button type="button" class="btn" onClick={() => void lock()}>
            Lock
          </button>
        )}
      </PageHead>
      {now === "reading" && (
        <div class="notice boxed">
          <p>
            This is a demo network, so everybody may look. To change something, open the page with{" "}
            <code>{pageConfig.service} console</code>.
          </p>
        </div>
      )}
      {now === "asking" && <Skeleton rows={3} height={8} />}
      {isShown && <Node mayChange={now === "open"} range={range} key={now} />}
      {(now === "locked" || now === "unable") && <Locked isUnable={now === "unable"} />}
    </>
  );
}
