import type { PauseReport } from "../../pulse/pulse.ts";
import type { Call } from "../data/call.ts";
import { type Pulse, type Query, usePulse, useQuery } from "../data/query.ts";
import { pageConfig } from "../page-config.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Pill } from "../parts/pill.tsx";
import { Card, SilencePill } from "../parts/region.tsx";
import * as msg from "../text/en/common.ts";
import { formatCount, formatExact, formatSecs } from "../text/format.ts";

/** Counts of a node that mean something to visitors. */
export const COUNTS: readonly (readonly [key: string, label: string])[] = [
  ["fids", msg.people],
  ["casts", msg.casts],
  ["reactions", msg.reactions],
  ["links", msg.follows],
];

/** Reports whether the index of a node has never stored anything, and nothing is on its way. */
export const isEmptyNode = ({ counts, following }: Pulse): boolean =>
  counts.fids === 0 && counts.casts === 0 && following === null;

/** The state of the node in a word. It only shows "ready" while the node reports that. */
export function ReadyPill({
  pulse,
  query,
}: {
  pulse: Pulse | undefined;
  query: Pick<Query<unknown>, "error" | "isStale" | "loadedAtMs">;
}) {
  // The node responds, but serves nothing yet or any more.
  if (query.error?.status === 503) return <Pill kind="warn">{msg.notReady}</Pill>;
  if (query.isStale) return <SilencePill query={query} />;
  if (!pulse) return <Pill>{msg.askingTheNode}</Pill>;
  if (!pulse.ready) return <Pill kind="warn">{msg.notReady}</Pill>;
  if (isEmptyNode(pulse)) return <Pill kind="warn">{msg.empty}</Pill>;
  return (
    <Pill kind="ok" live>
      {msg.ready}
    </Pill>
  );
}

/** Says that the node is not ready or silent, which may be why something is missing. Renders nothing for a ready node. */
export function NotReadyYet() {
  const query = usePulse();
  const pulse = query.data;
  if (query.isStale)
    return (
      <p class="measure" role="status">
        <SilencePill query={query} />
      </p>
    );
  if (!pulse || pulse.ready) return null;
  return (
    <p class="measure" role="status">
      {msg.whatIsMissingHereMayStill(<b>{msg.thisNodeIsNotReady}</b>, pulse.reason ?? msg.itIsStarting)}
    </p>
  );
}

const { service } = pageConfig;
/** What the operator of an empty node can do, with the commands. */
const WAYS: readonly { readonly title: string; readonly command: string }[] = [
  {
    title: msg.followANode,
    command: `${service} serve --set upstream.url=http://host:3383`,
  },
  {
    title: msg.importAFile,
    command: `${service} import FILE`,
  },
  {
    title: msg.lookAroundFirst,
    command: `${service} serve --demo`,
  },
];

/** Explains how to fill an empty node. */
export function WaysToFill() {
  return (
    <Card title={msg.fillIt}>
      {pageConfig.operator && (
        <p>
          <a class="btn go" href="/console/setup">
            {msg.setItUpHere}
          </a>
        </p>
      )}
      <dl class="stack">
        {WAYS.map(({ title, command }) => (
          <div key={title}>
            <dt>
              <b>{title}</b>
            </dt>
            <dd class="row">
              <code class="user">{command}</code>
              <CopyButton text={command} />
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** Shown if there are no casts: why, and what to do. */
export function NothingCast() {
  const query = usePulse();
  const pulse = query.data;
  if (query.isStale) return <SilencePill query={query} />;
  if (pulse && !pulse.ready)
    return (
      <p role="status">
        {msg.castsAppearHereOnceItHas(<b>{msg.thisNodeIsNotReady}</b>, pulse.reason ?? msg.itIsStarting)}
      </p>
    );
  if (pulse?.counts.fids === 0) return <p>{msg.thisNodeIsEmpty(<a href="/">{msg.howToFillIt}</a>)}</p>;
  return <p>{msg.noCastsInTheLast24(<a href="/console/channels">{msg.channels}</a>)}</p>;
}

/** The progress of an index that is being filled, and the time left. Renders nothing once it follows live. */
export function Filling({ pulse: { following } }: { pulse: Pulse }) {
  if (!following) return null;
  const { phase, fids_done: done, fids_total: total, build, eta_secs: etaSecs } = following;
  if (phase === "live" || (total === 0 && !build)) return null;
  const percent = build ? build.done_percent : Math.floor((done / Math.max(1, total)) * 100);
  return (
    <div class="stack tight">
      <progress class="fill" max={100} value={percent} aria-label={msg.percent(percent)} />
      <p class="s dim">
        {msg.youMayCloseThisPageThe(
          total > 0 && msg.ofPeopleAreHere(formatCount(done), formatCount(total)),
          etaSecs !== null && msg.aboutLeft(formatSecs(etaSecs)),
        )}
      </p>
    </div>
  );
}

const PULSE: Call<Pulse> = { method: "GET", path: "/console/api/pulse" };
const EVERY_MS = 15_000;

const WORDS: Readonly<Record<string, string>> = {
  signed: msg.signedOperationsChangesAreRefused,
  tokens: msg.tokenEventsClientsRepeatThemLater,
  sends: msg.notificationsTheyAreAcceptedAnd,
  deliveries: msg.deliveriesToWebhooksTheyAreQueued,
  writes: msg.writesNewOnesAreRefusedQueued,
};

/** Says what the operator has paused, and why. */
export function PausedNotices({ paused }: { paused: readonly PauseReport[] }) {
  return (
    <>
      {paused.map(({ name, reason, paused_at: at }) => (
        <p class="notice boxed" key={name}>
          <span>
            {msg.sinceBecause(
              <b>{msg.theOperatorHasPaused(WORDS[name] ?? name)}</b>,
              formatExact(at * 1000),
              <bdi>{reason}</bdi>,
            )}
          </span>
        </p>
      ))}
    </>
  );
}

const usePaused = () => useQuery(PULSE, { everyMs: EVERY_MS }).data?.paused;

/** Reports whether the operator has paused something, such as `sends` or `deliveries`. */
export const useIsPaused = (name: string): boolean =>
  usePaused()?.some((pause) => pause.name === name) ?? false;

/** The same for a page that does not show the state of the node. */
export function PausedNotice() {
  return <PausedNotices paused={usePaused() ?? []} />;
}
