import { get } from "../data/call.ts";
import { formatCount, formatDuration, plural } from "../data/format.ts";
import type { Cast } from "../data/objects.ts";
import { type Pulse, usePulse } from "../data/pulse.ts";
import { type Query, useQuery } from "../data/query.ts";
import { Icon, type IconName } from "../icons.tsx";
import { pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { CastRow } from "../parts/cast-row.tsx";
import { Filling } from "../parts/filling.tsx";
import { isEmptyNode, NothingCast, ReadyPill, WaysToFill } from "../parts/node-state.tsx";
import { Heading } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { Live } from "./live.tsx";

const trending = get("/feed/trending", { limit: 3 });

function State({ query }: { query: Query<Pulse> }) {
  const { data: pulse, isStale } = query;
  return (
    <div class="row wrap">
      {/* First, because what comes later must not move it. */}
      {pageConfig.demo && <Pill kind="warn">demo network</Pill>}
      <ReadyPill pulse={pulse} query={query} />
      {pulse && !pulse.ready && !isStale && pulse.reason && <span class="s dim">{pulse.reason}</span>}
      {pulse && <Pill>{pulse.network} rules</Pill>}
    </div>
  );
}

/** What a visitor can do here, after "Browse them". */
function leadOf({ manage, demo }: Pick<typeof pageConfig, "manage" | "demo">): string {
  if (!manage) return " and copy the call behind any view.";
  return demo
    ? ", copy the call behind any view, or borrow a demo person's wallet and send a push in two minutes."
    : ", copy the call behind any view, and run your mini apps and webhooks from here.";
}

function Lead({ pulse }: { pulse: Pulse | undefined }) {
  if (pulse && isEmptyNode(pulse))
    return (
      <p>
        <span class="sentence">
          This node is empty: it has no people and no casts, and it follows no other node.
        </span>{" "}
        <span class="sentence">To fill it, choose one of the ways below.</span>
      </p>
    );
  const people = pulse?.counts.fids;
  const casts = pulse?.counts.casts;
  const counted =
    people === 0 && casts === 0
      ? "It is still empty: people and casts are on their way."
      : people !== undefined && casts !== undefined
        ? `${plural(people, "person", "people")} and ${plural(casts, "cast")} live in one file beside this program.`
        : "People, casts and channels live in one file beside this program.";
  return (
    <p>
      {/* A count that has another length moves no other line. */}
      <span class="sentence">{counted}</span> <span class="sentence">Browse them{leadOf(pageConfig)}</span>
    </p>
  );
}

function Figure({ label, children }: { label: string; children: preact.ComponentChildren }) {
  return (
    <div class="stat">
      <span class="dim s">{label}</span>
      {children}
    </div>
  );
}

const COUNTS: readonly (readonly [key: string, label: string])[] = [
  ["fids", "People"],
  ["casts", "Casts"],
  ["reactions", "Reactions"],
  ["links", "Follows"],
];

function Now({ query: { data: pulse, isStale } }: { query: Query<Pulse> }) {
  const merged = (pulse?.history.merged ?? []).map((value) => value ?? 0);
  return (
    <section class={`card ${isStale ? "old" : ""}`} aria-label="Now">
      <div class="pad stats">
        {COUNTS.map(([key, label]) => (
          <Figure label={label} key={key}>
            <span class="num">{pulse ? formatCount(pulse.counts[key] ?? 0) : "–"}</span>
          </Figure>
        ))}
        <Figure label="Median answer">
          <span class="num">{pulse?.p50_ms == null ? "–" : formatDuration(pulse.p50_ms)}</span>
        </Figure>
        <Figure label="Messages, last 5 min">
          <Sparkline
            values={merged}
            label={`The last ${merged.length} steps of ${pulse?.history.step_secs ?? 0} seconds`}
          />
        </Figure>
      </div>
    </section>
  );
}

function Door({
  href,
  icon,
  title,
  children,
}: {
  href: string;
  icon: IconName;
  title: string;
  children: string;
}) {
  return (
    <a class="card door" href={href}>
      <Icon name={icon} size={22} />
      <h2>{title}</h2>
      <p class="dim s">{children}</p>
    </a>
  );
}

/** What a node shows that has something to show: figures, trending casts, events, and three doors. */
function Content({ query }: { query: Query<Pulse> }) {
  const casts = useQuery<{ casts: Cast[] }>(trending, { everyMs: 60_000 });
  return (
    <>
      <Now query={query} />
      <div class="split">
        <Region
          title="Trending now"
          call={trending}
          query={casts}
          aside={
            <a class="s" href="/console">
              All trending
            </a>
          }
          isEmpty={({ casts }) => casts.length === 0}
          empty={<NothingCast />}
        >
          {({ casts }) => casts.map((cast) => <CastRow cast={cast} key={cast.hash} />)}
        </Region>
        <div class="stack">
          <CallPanel call={trending} />
          {pageConfig.stream && <Live demo={pageConfig.demo} />}
        </div>
      </div>
      <section class="three">
        <Door href="/console" icon="search" title="Explore">
          People, threads, channels and search, each with the API call behind it.
        </Door>
        {pageConfig.manage && (
          <Door href="/console/manage/apps" icon="bell" title="Send a push">
            Register a mini app, see your audience grow, preview and send.
          </Door>
        )}
        {pageConfig.manage && (
          <Door href="/console/manage/webhooks" icon="webhook" title="Catch events">
            Build a webhook filter by clicking and try it on the last 1,000 events.
          </Door>
        )}
      </section>
    </>
  );
}

/** The first page: what this is, whether it is ready, and three doors; of an empty node, how to fill it. */
export function Page() {
  const query = usePulse();
  const { data: pulse, isStale } = query;
  const isEmpty = pulse !== undefined && isEmptyNode(pulse);
  return (
    <>
      <section class="hero">
        <State query={query} />
        <Heading text="A Farcaster node of your own." />
        <Lead pulse={pulse} />
        {pulse && !isStale && <Filling pulse={pulse} />}
        <div class="row wrap">
          {pageConfig.demo && pageConfig.manage && (
            <a class="btn go" href="/console/manage?demo=1">
              <Icon name="wallet" /> Try it as a demo person
            </a>
          )}
          {!isEmpty && (
            <a class={pageConfig.demo ? "btn" : "btn go"} href="/console">
              Explore the network
            </a>
          )}
          <a class="btn quiet" href="/docs" target="_self">
            Read the API →
          </a>
        </div>
      </section>
      {isEmpty ? <WaysToFill /> : <Content query={query} />}
    </>
  );
}
