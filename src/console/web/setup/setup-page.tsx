import { useEffect, useRef, useState } from "preact/hooks";
import type { SetUpState, SetUpStep, SetUpWish } from "../../setup/set-up.ts";
import { Filling, isEmptyNode, ReadyPill } from "../content/node-state.tsx";
import type { Call } from "../data/call.ts";
import { type Pulse, type Query, usePulse, useQuery } from "../data/query.ts";
import { nowMs } from "../data/visibility.ts";
import {
  access,
  enter,
  lockedBecause,
  operatorChange,
  operatorRead,
  operatorRequest,
} from "../operator/session.ts";
import { Outcome, useAction } from "../owner/action.tsx";
import { pageConfig } from "../page-config.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { Command } from "../parts/raw-text.tsx";
import { Card, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/tools/setup.ts";
import { formatCount } from "../text/format.ts";
import { WishForm } from "./wish-form.tsx";

const EVERY_MS = 1_000;
/** A first query on the existing data. */
const FIRST_QUERY = `/console/call#${new URLSearchParams({ call: `GET /v2/${pageConfig.service}/feed/trending?limit=3` })}`;

/** The public view of a node that is not set up. */
function Locked() {
  const failure = lockedBecause.value;
  const { port, hostname } = location;
  return (
    <section class="card">
      <div class="pad stack measure">
        <h2>{msg.notSetUpYet}</h2>
        {failure && (
          <p class="failure" role="alert">
            <b>{msg.itDidNotOpen}</b> {failure.message}.
          </p>
        )}
        {access.value === "unable" ? (
          <p>
            {msg.yourBrowserSignsOnlyOn(
              <code>{`ssh -L ${port || 80}:localhost:${port || 80} ${hostname}`}</code>,
            )}
          </p>
        ) : (
          <>
            <p>{msg.onlyTheOperatorSetsItUp}</p>
            <Command text={`${pageConfig.service} console`} />
          </>
        )}
      </div>
    </section>
  );
}

/** The form, with the step that is running in the node. `isApplying`: whether that is the last one. */
function Steps({ isApplying, onApplied }: { isApplying: { current: boolean }; onApplied: () => void }) {
  const [isRunning, setRunning] = useState(false);
  const startedMs = useRef(0);
  const action = useAction();
  const query = useQuery(operatorRead<SetUpState>("/setup"), {
    send: operatorRequest,
    everyMs: isRunning ? EVERY_MS : undefined,
  });
  const state = query.data;
  useEffect(() => {
    if (!state) return;
    setRunning(state.is_running);
    if (state.step === "apply" && !state.is_running && state.result) onApplied();
    if (state.error !== null) isApplying.current = false;
  }, [state]);
  // The node that applied it has stopped, is starting, or has restarted without the session.
  const hasLeft = query.error !== undefined && [0, 401, 503].includes(query.error.status);
  useEffect(() => {
    if (hasLeft && isApplying.current) onApplied();
  }, [hasLeft]);
  if (!state) return <Skeleton rows={4} />;
  const onStep = (step: SetUpStep, wish: SetUpWish) =>
    action.run(async () => {
      startedMs.current = Date.now();
      await operatorRequest(operatorChange("setup", { step, ...wish }));
      isApplying.current = step === "apply";
      setRunning(true);
      query.refresh();
      return undefined;
    });
  const secs = Math.max(0, Math.round((Math.max(nowMs.value, Date.now()) - startedMs.current) / 1000));
  return (
    <div class="stack">
      <WishForm
        state={state}
        secs={startedMs.current === 0 ? 0 : secs}
        onStep={(step, wish) => void onStep(step, wish)}
      />
      <Outcome action={action} />
      <p class="s dim">{msg.orFeedIt(<a href="/console/operator">{msg.theOperatorsPage}</a>)}</p>
    </div>
  );
}

/** What a node does before it can serve. `share` is that of the file, or of the index while it is built; null if neither is known. */
interface Starting {
  readonly stage: string | null;
  readonly share: number | null;
}

const STATUS: Call<{ readonly starting?: Starting }> = { method: "GET", path: "/status" };

/** A node that is restarting. */
interface Start {
  readonly isAway: boolean;
  /** Whether it serves again after it was away. */
  readonly runsAgain: boolean;
  /** What it reports to be doing; undefined if it reports nothing. */
  readonly starting: Starting | undefined;
}

/** Follows a node that is restarting. @param onRunning called while it serves. */
function useStart(isWaiting: boolean, onRunning: () => void): Start {
  const { data, error, loadedAtMs } = useQuery(isWaiting ? STATUS : undefined, { everyMs: EVERY_MS });
  const wasAway = useRef(false);
  const isAway = error !== undefined || data?.starting !== undefined;
  wasAway.current ||= isAway;
  // Its contents are polled less often than whether it serves.
  useEffect(() => {
    if (data && !isAway) onRunning();
  }, [loadedAtMs, isAway]);
  return {
    isAway,
    runsAgain: wasAway.current && !isAway,
    starting: error === undefined ? data?.starting : undefined,
  };
}

/** What a restarting node reports, with its progress. */
function StartingAgain({ start: { runsAgain, starting } }: { start: Start }) {
  if (!starting)
    return (
      <div role="status">
        <p>{runsAgain ? msg.itRunsAndIsEmpty : msg.theNodeStartsAgain}</p>
      </div>
    );
  const { stage, share } = starting;
  const percent = Math.floor((share ?? 0) * 100);
  const words =
    share === null ? msg.itOpensItsIndex : stage === null ? msg.itImports(percent) : msg.itBuilds(percent);
  return (
    <div class="stack tight" role="status">
      <p>{words}</p>
      <progress class="fill" max={100} {...(share !== null && { value: percent })} aria-label={words} />
    </div>
  );
}

/** The state of the node in a word, from its last report. */
function StatePill({ start: { starting }, query }: { start: Start; query: Query<Pulse> }) {
  if (!starting) return <ReadyPill pulse={query.data} query={query} />;
  const { stage, share } = starting;
  return (
    <Pill kind="warn">{share === null ? msg.starting : stage === null ? msg.importing : msg.building}</Pill>
  );
}

/** The records of a file that the node did not accept, with the reasons. */
function Refused({ refused }: Pick<Pulse, "refused">) {
  if (refused.length === 0) return null;
  const total = refused.reduce((sum, { count }) => sum + count, 0);
  return (
    <div class="notice boxed">
      <div class="stack tight">
        <p>{msg.recordsWereRefused(total)}</p>
        <ul>
          {refused.map(({ reason, count }) => (
            <li key={reason}>
              {formatCount(count)} × <bdi>{reason}</bdi>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** A node that is being filled, and what can already be queried. */
function Progress({ query, isApplied }: { query: Query<Pulse>; isApplied: boolean }) {
  const pulse = query.data;
  const hasPeople = pulse !== undefined && (pulse.counts.fids ?? 0) > 0;
  const isEmpty = pulse === undefined || isEmptyNode(pulse);
  const isWaiting = isApplied && isEmpty;
  const start = useStart(isWaiting, () => query.refresh());
  const isReady = !isEmpty && pulse.ready && !query.isStale;
  const isFilling = start.starting !== undefined || (!isEmpty && pulse.following !== null);
  return (
    <Card
      title={
        isReady ? msg.theNodeHasData : isFilling ? msg.itFills : isEmpty ? msg.theNodeHasData : msg.itStarts
      }
      aside={<StatePill start={start} query={query} />}
    >
      {isWaiting && <StartingAgain start={start} />}
      {pulse && <Filling pulse={pulse} />}
      {isReady && <p role="status">{msg.itIsReady}</p>}
      {pulse && <Refused refused={pulse.refused} />}
      {!isEmpty && !pulse.ready && pulse.reason !== null && <p class="s dim">{pulse.reason}</p>}
      {hasPeople && (
        <>
          <p>{msg.peopleAreHere(formatCount(pulse?.counts.fids ?? 0))}</p>
          <div class="row wrap">
            <a class="btn go" href={FIRST_QUERY}>
              {msg.firstQuery}
            </a>
            <a class="btn" href="/console">
              {msg.explore}
            </a>
          </div>
        </>
      )}
      {!isEmpty && (
        <p class="s dim">{msg.seeItsSettings(<a href="/console/operator">{msg.theOperatorsPage}</a>)}</p>
      )}
    </Card>
  );
}

/** The first run of a node in the browser: its configuration, the checks, and its progress. */
export function Page() {
  const query = usePulse();
  const [isApplied, setApplied] = useState(false);
  const isApplying = useRef(false);
  const isLocked = access.value === "locked";
  // A node that restarts between two requests never appears to be away: it only no longer knows the session.
  useEffect(() => {
    if (isLocked && isApplying.current) setApplied(true);
  }, [isLocked]);
  useEffect(() => {
    const take = () => void enter();
    take();
    // If the link of the command is opened in the tab that shows the command, only the fragment changes.
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  const pulse = query.data;
  const isEmpty = pulse !== undefined && isEmptyNode(pulse) && !isApplied;
  return (
    <>
      <PageHead title={msg.setUpYourNode} />
      {pulse === undefined || access.value === "asking" ? (
        <Skeleton rows={4} />
      ) : !isEmpty ? (
        <Progress query={query} isApplied={isApplied} />
      ) : access.value === "open" ? (
        <Steps isApplying={isApplying} onApplied={() => setApplied(true)} />
      ) : (
        <Locked />
      )}
    </>
  );
}
