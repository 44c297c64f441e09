import { useEffect, useState } from "preact/hooks";
import { formatCount, formatSecs } from "../data/format.ts";
import type { Pulse } from "../data/pulse.ts";
import type { RequestFailure } from "../data/request.ts";
import { Filling } from "../parts/filling.tsx";
import { isEmptyNode, ReadyPill } from "../parts/node-state.tsx";
import { formatMs, formatRate } from "./figures.ts";

export interface Freshness {
  readonly error: RequestFailure | undefined;
  readonly isStale: boolean;
  readonly loadedAtMs: number;
  readonly nextAtMs: number;
  refresh(): void;
}

/** The time by the second, while it is needed. */
function useSeconds(isNeeded: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isNeeded) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now;
}

/** Says that the node does not respond, how old the figures are, and when the page asks again. */
export function StaleNotice({ history, hasFigures }: { history: Freshness; hasFigures: boolean }) {
  const { error, isStale, loadedAtMs, nextAtMs } = history;
  const now = useSeconds(isStale);
  if (!isStale) return null;
  const waitSecs = Math.max(0, Math.ceil((nextAtMs - now) / 1000));
  return (
    <div class="failure" role="alert">
      <p>
        <b>{error && error.status !== 0 ? error.status : "No response:"}</b>{" "}
        {error ? error.message : "the node has not answered the last request"}.{" "}
        {hasFigures && (
          <span data-age>The figures below are {formatSecs((now - loadedAtMs) / 1000)} old. </span>
        )}
        <span class="dim">
          {waitSecs > 0 ? `The page asks again in ${waitSecs} s.` : "The page is asking."}
        </span>
      </p>
      <p>
        <button type="button" class="btn" onClick={() => history.refresh()}>
          Ask now
        </button>
      </p>
    </div>
  );
}

function Stat({ label, value }: { label: string; value: string }) {
  return (
    <div class="stat">
      <span class="dim s">{label}</span>
      <span class="num">{value}</span>
    </div>
  );
}

const orDash = (value: number | null | undefined, format: (value: number) => string) =>
  value === null || value === undefined ? "–" : format(value);

const COUNTS: readonly (readonly [key: string, label: string])[] = [
  ["fids", "People"],
  ["casts", "Casts"],
  ["reactions", "Reactions"],
  ["links", "Follows"],
];

/** The node at a glance: ready or why not, rates of the last seconds, counts. What is out of date promises nothing. */
export function NowCard({ pulse, history }: { pulse: Pulse; history: Freshness }) {
  const { isStale } = history;
  return (
    <section class={`card ${isStale ? "old" : ""}`} aria-label="Now">
      <div class="pad stack">
        <div class="row wrap">
          <ReadyPill pulse={pulse} query={history} />
          <span class="grow">
            {isStale ? (
              <span class="dim">These are its last figures.</span>
            ) : (
              <>
                {!pulse.ready ? (
                  pulse.reason
                ) : (
                  <span class="dim">
                    {isEmptyNode(pulse)
                      ? "It has no people and no casts, and follows no other node."
                      : "It serves current data."}
                  </span>
                )}
                {pulse.following?.phase === "live" && pulse.following.lag_secs !== null && (
                  <span class="dim">
                    {" "}
                    {formatSecs(pulse.following.lag_secs)} behind the node that it follows.
                  </span>
                )}
              </>
            )}
          </span>
          <span class="dim s">
            up {formatSecs(pulse.uptime_secs)} · version {pulse.version} · {pulse.network} rules
          </span>
        </div>
        <Filling pulse={pulse} />
        <div class="stats">
          <Stat label="Requests a second" value={orDash(pulse.requests_per_second, formatRate)} />
          <Stat label="Median answer" value={orDash(pulse.p50_ms, formatMs)} />
          <Stat label="99th percentile" value={orDash(pulse.p99_ms, formatMs)} />
          <Stat label="Messages a second" value={orDash(pulse.merged_per_second, formatRate)} />
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
