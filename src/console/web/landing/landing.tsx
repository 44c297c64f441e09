import type { ComponentType } from "preact";
import { useState } from "preact/hooks";
import { CastRow } from "../content/cast-row.tsx";
import { COUNTS, Filling, isEmptyNode, NothingCast, ReadyPill, WaysToFill } from "../content/node-state.tsx";
import { callOf, StorySteps } from "../content/story-steps.tsx";
import { get } from "../data/call.ts";
import { type Pulse, type Query, usePulse, useQuery } from "../data/query.ts";
import { withinLimit } from "../data/stale-chunk.ts";
import { Icon, type IconName } from "../icons/icons.tsx";
import { pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { Heading } from "../parts/page-head.tsx";
import { Pill, Sparkline } from "../parts/pill.tsx";
import { Card, Region } from "../parts/region.tsx";
import { Stat } from "../parts/table.tsx";
import * as msg from "../text/en/landing.ts";
import { formatCount, formatDuration } from "../text/format.ts";
import { Live } from "./live.tsx";

const trending = get("/feed/trending", { limit: 3 });

function State({ query }: { query: Query<Pulse> }) {
  const { data: pulse, isStale } = query;
  return (
    <div class="row wrap">
      {/* First, because what loads later must not move it. */}
      {pageConfig.demo && <Pill kind="warn">{msg.demoNetwork}</Pill>}
      <ReadyPill pulse={pulse} query={query} />
      {pulse && !pulse.ready && !isStale && pulse.reason && <span class="s dim">{pulse.reason}</span>}
      {/* The messages of a demo network are those of mainnet, with which it has nothing else to do. */}
      {pulse && !pageConfig.demo && <Pill>{pulse.network}</Pill>}
    </div>
  );
}

/** Says what a visitor can do here, following "Browse them". */
function leadOf({ manage, demo }: Pick<typeof pageConfig, "manage" | "demo">): string {
  if (!manage) return msg.andCopyTheCallBehindAny;
  return demo ? msg.copyTheCallBehindAnyView : msg.copyTheCallBehindFromHere;
}

function Lead({ pulse }: { pulse: Pulse | undefined }) {
  if (pulse && isEmptyNode(pulse))
    return (
      <p>
        <span class="sentence">{msg.thisNodeIsEmptyItHas}</span>{" "}
        <span class="sentence">{msg.toFillItChooseOneOf}</span>
      </p>
    );
  const people = pulse?.counts.fids;
  const casts = pulse?.counts.casts;
  const counted =
    people === 0 && casts === 0
      ? msg.itIsStillEmptyPeopleAnd
      : people !== undefined && casts !== undefined
        ? msg.andAreInOneFileNext(msg.countPeople(people), msg.countCasts(casts))
        : msg.peopleCastsAndChannelsAreIn;
  return (
    <p>
      {/* A count that has another length moves no other line. */}
      <span class="sentence">{counted}</span>{" "}
      <span class="sentence">
        {pageConfig.anonymous ? msg.browseThem(leadOf(pageConfig)) : msg.readingThemTakesAnApiKey}
      </span>
    </p>
  );
}

function Now({ query: { data: pulse, isStale } }: { query: Query<Pulse> }) {
  const merged = (pulse?.history.merged ?? []).map((value) => value ?? 0);
  return (
    <section class={`card ${isStale ? "old" : ""}`} aria-label={msg.now}>
      <div class="pad stats">
        {COUNTS.map(([key, label]) => (
          <Stat label={label} value={pulse ? formatCount(pulse.counts[key] ?? 0) : "–"} key={key} />
        ))}
        <Stat label={msg.medianLatency} value={pulse?.p50_ms == null ? "–" : formatDuration(pulse.p50_ms)} />
        <div class="stat">
          <span class="dim s">{msg.messagesLast5Min}</span>
          <Sparkline
            values={merged}
            label={msg.theLastStepsOfSeconds(merged.length, pulse?.history.step_secs ?? 0)}
          />
        </div>
      </div>
    </section>
  );
}

function Door(props: { href: string; icon: IconName; title: string; children: string }) {
  const { href, icon, title, children } = props;
  return (
    <a class="card door" href={href}>
      <Icon name={icon} size={22} />
      <h2>{title}</h2>
      <p class="dim s">{children}</p>
    </a>
  );
}

/** A button that runs a push from its app to 25 phones. The code of the story loads with the click. */
function Story() {
  const [Loaded, setLoaded] = useState<ComponentType>();
  const run = () =>
    void withinLimit(import("../demo/story.tsx")).then(
      ({ StoryCard }) => setLoaded(() => StoryCard),
      () => undefined,
    );
  return (
    <div class="story-place">
      {Loaded ? (
        <Loaded />
      ) : (
        <Card
          title={msg.oneClickFiveCalls}
          aside={
            <button type="button" class="btn go" onClick={run}>
              {msg.buzz25Phones}
            </button>
          }
        >
          <StorySteps
            step={(key, at) => (
              <>
                <span class="row tight">
                  <Pill>{at + 1}</Pill>
                  <b>{msg.STORY_STEPS[key]}</b>
                </span>
                <span class="xs dim mono">{callOf(key)}</span>
              </>
            )}
            phone={
              <>
                <div class="phone" aria-hidden="true">
                  <span class="clock">9:41</span>
                  <p class="toast s">{msg.theirPhonesAreQuiet}</p>
                </div>
                <p class="s dim outcome">{msg.aDemoPersonSigns}</p>
              </>
            }
          />
        </Card>
      )}
    </div>
  );
}

/** The content for a node that has data: figures, trending casts, events, and three entrances. */
function Content({ query }: { query: Query<Pulse> }) {
  const casts = useQuery(trending, { everyMs: 60_000 });
  return (
    <>
      {pageConfig.demo && pageConfig.manage && <Story />}
      <Now query={query} />
      <div class="split">
        <Region
          title={msg.trendingNow}
          call={trending}
          query={casts}
          aside={
            <a class="s" href="/console">
              {msg.allTrending}
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
        <Door href="/console" icon="search" title={msg.explore}>
          {msg.peopleThreadsChannelsAndSearchEach}
        </Door>
        {pageConfig.manage && (
          <Door href="/console/manage/apps" icon="bell" title={msg.sendAPush}>
            {msg.registerAMiniAppSeeYour}
          </Door>
        )}
        {pageConfig.manage && (
          <Door href="/console/manage/webhooks" icon="webhook" title={msg.catchEvents}>
            {msg.buildAWebhookFilterByClicking}
          </Door>
        )}
      </section>
    </>
  );
}

/** The first page: what this is, whether it is ready, and three entrances; for an empty node, how to fill it. */
export function Page() {
  const query = usePulse();
  const { data: pulse, isStale } = query;
  const isEmpty = pulse !== undefined && isEmptyNode(pulse);
  return (
    <>
      <section class="hero">
        <State query={query} />
        <Heading text={msg.aFarcasterNodeOfYourOwn} />
        <Lead pulse={pulse} />
        {pulse && !isStale && <Filling pulse={pulse} />}
        <div class="row wrap">
          {pageConfig.demo && pageConfig.manage && (
            <a class="btn go" href="/console/manage?demo=1">
              <Icon name="wallet" />
              {msg.tryItAsADemoPerson}
            </a>
          )}
          {!isEmpty && (
            <a class={pageConfig.demo ? "btn" : "btn go"} href="/console">
              {msg.exploreTheNetwork}
            </a>
          )}
          <a class="btn quiet" href="/docs" target="_self">
            {msg.readTheApi}
          </a>
        </div>
      </section>
      {isEmpty ? <WaysToFill /> : <Content query={query} />}
    </>
  );
}
