import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Proof } from "../../pulse/pulse.ts";
import type { ShownFigure } from "../../pulse/series-page.ts";
import { COUNTS, Filling, isEmptyNode, PausedNotices, ReadyPill } from "../content/node-state.tsx";
import type { Pulse } from "../data/query.ts";
import { PastFigures } from "../moment/figures.tsx";
import { HAS_HISTORY, useWindow } from "../moment/scrubber.tsx";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Pill, Sparkline } from "../parts/pill.tsx";
import { CallButton, Skeleton } from "../parts/region.tsx";
import { DataTable, Stat } from "../parts/table.tsx";
import type { PlotOf } from "../plot/plot.tsx";
import * as msg from "../text/en/status.ts";
import { FORMATS, formatCount, formatMs, formatRate, formatSecs, saidIn } from "../text/format.ts";
import {
  type Growing,
  HistoryCard,
  isPast,
  type Range,
  RangeNav,
  rangeOf,
  StaleNotice,
  seriesCall,
  useHistory,
} from "./history.tsx";
import { PublicIncidents } from "./incidents.tsx";
import { PageScrubber } from "./page-scrubber.tsx";
import { latestOf, type SeriesColumns } from "./series.ts";
import { SinceCard } from "./since.tsx";

const PATH = "/console/status";
const SERIES_PATH = "/console/api/series";
const SPARK_POINTS = 60;

interface PublicHistory extends SeriesColumns {
  readonly pulse: Pulse;
  readonly shown: readonly ShownFigure[];
}

const said = (text: string) => saidIn(msg.FIGURES, text);

/** Returns the plots, by the titles that the figures name. */
function plotsOf(shown: readonly ShownFigure[]): PlotOf[] {
  const curves = shown.flatMap(({ name, plot }) => (plot ? [{ ...plot, name }] : []));
  return [...Map.groupBy(curves, ({ title }) => title)].map(([title, own]) => [
    said(title),
    FORMATS[own[0]?.unit ?? "count"],
    Object.fromEntries(own.map(({ name, label }) => [name, said(label)])),
  ]);
}

const orDash = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? "–" : format(value);

/** The node at a glance: ready or why not, current rates, counts. Out-of-date figures are marked as such. */
function NowCard({ pulse, history }: { pulse: Pulse; history: Growing<unknown> }) {
  const { isStale } = history;
  const { following } = pulse;
  return (
    <section class={`card ${isStale ? "old" : ""}`} aria-label={msg.now}>
      <div class="pad stack">
        <div class="row wrap">
          <ReadyPill pulse={pulse} query={history} />
          <span class="grow roomy">
            {isStale ? (
              <span class="dim">{msg.theseAreItsLastFigures}</span>
            ) : (
              <>
                {!pulse.ready ? (
                  pulse.reason
                ) : (
                  <span class="dim">{isEmptyNode(pulse) ? msg.itHasNoPeopleAndNo : msg.upToDate}</span>
                )}
                {following?.phase === "live" && following.lag_secs !== null && (
                  <span class="dim">{msg.behindTheNodeThatItFollows(formatSecs(following.lag_secs))}</span>
                )}
              </>
            )}
          </span>
          <span class="dim s">
            {msg.upVersion(
              formatSecs(pulse.uptime_secs),
              pulse.version,
              pageConfig.demo ? msg.demoNetwork : pulse.network,
            )}
          </span>
        </div>
        {following?.proof && !isStale && <ProofLine proof={following.proof} />}
        {!isStale && <HowToProve pulse={pulse} />}
        <Filling pulse={pulse} />
        <div class="stats">
          <Stat label={msg.requestsPerSecond} value={orDash(pulse.requests_per_second, formatRate)} />
          <Stat label={msg.medianLatency} value={orDash(pulse.p50_ms, formatMs)} />
          <Stat label={msg.p99Latency} value={orDash(pulse.p99_ms, formatMs)} />
          <Stat label={msg.messagesPerSecond} value={orDash(pulse.merged_per_second, formatRate)} />
        </div>
        <div class="stats">
          {COUNTS.map(([key, label]) => (
            <Stat label={label} value={formatCount(pulse.counts[key] ?? 0)} key={key} />
          ))}
        </div>
      </div>
    </section>
  );
}

/** Returns values for a small curve: the maximum of each interval, because short queues matter. */
function sparkValues(values: readonly (number | null)[]): number[] {
  const size = Math.max(1, Math.ceil(values.length / SPARK_POINTS));
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    Math.max(...values.slice(at * size, (at + 1) * size).map((value) => value ?? 0)),
  );
}

function Queues({ columns, range }: { columns: PublicHistory; range: Range }) {
  const queues = columns.shown.flatMap(({ name, queue }) =>
    queue && latestOf(columns, name) !== undefined
      ? [{ name, label: said(queue.label), words: said(queue.words), unit: queue.unit }]
      : [],
  );
  return (
    <DataTable
      label={msg.queues}
      rows={queues}
      keyOf={({ name }) => name}
      columns={[
        {
          title: msg.what,
          cell: ({ label, words }) => (
            <>
              {label}
              <span class="dim s words"> {words}</span>
            </>
          ),
        },
        {
          title: msg.now,
          isNumber: true,
          cell: ({ name, unit }) => <b>{FORMATS[unit](latestOf(columns, name) ?? 0)}</b>,
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

const NodePath = ({ path }: { path: string }) => (
  <a href={path} target="_self">
    {path}
  </a>
);

/** The public state of the node: ready or why not, rates, response times, errors and queues over time. */
export function Page() {
  const { query } = useLocation();
  const range = rangeOf(query);
  const history = useHistory<PublicHistory>(SERIES_PATH, range);
  const window = useWindow();
  const [isOpen, setOpen] = useState(false);
  const { data, error, isStale } = history;
  return (
    <>
      <PageHead title={msg.status}>
        <RangeNav path={PATH} />
        <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />
      </PageHead>
      <div class="stack">
        <StaleNotice history={history} />
        {HAS_HISTORY && <SinceCard path={`${apiPrefix}/history/since`} />}
        {data && <PausedNotices paused={data.pulse.paused} />}
        {isOpen && <CallPanel call={seriesCall(SERIES_PATH, range, 0)} />}
        {data ? (
          <>
            <NowCard pulse={data.pulse} history={history} />
            <PageScrubber />
            {pageConfig.incidents && <PublicIncidents />}
            {isPast(query, window) ? (
              <PastFigures
                path={`${apiPrefix}/history/figures`}
                window={window}
                plots={plotsOf(data.shown)}
              />
            ) : (
              <HistoryCard history={history} plots={plotsOf(data.shown)} />
            )}
            <section class={`card ${isStale ? "old" : ""}`}>
              <header>
                <h2 class="grow">{msg.queues}</h2>
              </header>
              <Queues columns={data} range={range} />
            </section>
          </>
        ) : (
          !error && <Skeleton rows={3} height={10} />
        )}
        <p class="s dim">
          {msg.programsReadTheSameFromAnd(
            data && msg.theFiguresAreThoseOfNode(data.node),
            <NodePath path="/status" />,
            <NodePath path="/ready" />,
            <NodePath path="/metrics" />,
            pageConfig.operator &&
              msg.doYouRunThisNodeAre(<a href="/console/operator">{msg.threadsLogSettingsAndBackups}</a>),
          )}
        </p>
      </div>
    </>
  );
}

const { service } = pageConfig;

/** Says how much of the followed network is proven; in red, what is wrong and what to do. */
function ProofLine({ proof }: { proof: Proof }) {
  const wrong = wrongIn(proof);
  return wrong ? (
    <p role="status">
      <Pill kind="bad">{msg.notTheNetworks}</Pill> {wrong[0]} {wrong[1]}
    </p>
  ) : (
    <p class="s dim">{rightIn(proof)}</p>
  );
}

/** Explains how visitors can verify this themselves, without trusting this page. */
function HowToProve({ pulse: { following } }: { pulse: Pulse }) {
  const command = <code>{service} verify --roots</code>;
  if (!following?.proof) return null;
  return <p class="s dim">{msg.proveIt(<NodePath path="/ready?for=proof" />, command)}</p>;
}

/** Returns what is wrong, and what to do. */
function wrongIn({
  state,
  shard,
  height,
  age_secs: ageSecs,
  accounts,
}: Proof): readonly [string, string] | undefined {
  const at = formatCount(height ?? 0);
  switch (state) {
    case "fork":
      return [msg.validatorsForked(shard, at), msg.whatToDoAboutAFork];
    case "unknown_validators":
      return [msg.validatorsAreUnknown(shard), msg.whatToDoAboutUnknownValidators(service)];
    case "quarantined":
      return [msg.accountsAreQuarantined(formatCount(accounts)), msg.whatToDoAboutQuarantinedAccounts];
    case "stale":
      return [msg.stateIsStale(shard, formatSecs(ageSecs ?? 0)), msg.whatToDoAboutAStaleProof];
    case "differs":
      return [msg.stateDiffers(shard, at), msg.whatToDoAboutAnotherState(service)];
    default:
      return undefined;
  }
}

function rightIn({ state, shard, height, age_secs: ageSecs, signers, validators }: Proof): string {
  const quorum = signers === null || validators === null ? "" : msg.against(signers, validators);
  const blocks = msg.blocksAreVerified(quorum);
  switch (state) {
    case "proven":
      return msg.provenAt(formatCount(height ?? 0), shard, formatSecs(ageSecs ?? 0), quorum);
    case "computing":
      return `${blocks} ${msg.stateIsComputed}`;
    case "incomplete":
      return `${blocks} ${msg.stateIsIncomplete}`;
    case "unproven":
      return `${blocks} ${msg.stateIsUnproven}`;
    case "node":
      return msg.nodeIsBelieved;
    default:
      return blocks;
  }
}
