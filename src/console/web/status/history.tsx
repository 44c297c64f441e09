import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Call } from "../data/call.ts";
import { type Polling, startPolling } from "../data/polling.ts";
import { addShown } from "../data/query.ts";
import { RequestFailure, request } from "../data/request.ts";
import { isVisible } from "../data/visibility.ts";
import { type TimeWindow, widthOf } from "../moment/window.ts";
import { pageConfig } from "../page-config.ts";
import { Skeleton } from "../parts/region.tsx";
import { type PlotOf, Plots } from "../plot/plot.tsx";
import * as msg from "../text/en/status.ts";
import { formatClock, formatSecs } from "../text/format.ts";
import { joinSeries, type SeriesColumns } from "./series.ts";

/** The ranges of the plots, as in the URL. */
const RANGES = [
  { id: "1h", label: msg.n1Hour, title: msg.lastHour, secs: 3600, step: 5 },
  { id: "6h", label: msg.n6Hours, title: msg.last6Hours, secs: 6 * 3600, step: 60 },
  { id: "24h", label: msg.n24Hours, title: msg.last24Hours, secs: 24 * 3600, step: 60 },
] as const;
/** Longer ranges are read from the history on disk. */
const LONG_RANGES = [
  { id: "7d", label: msg.n7Days },
  { id: "30d", label: msg.n30Days },
] as const;

export type Range = (typeof RANGES)[number];

/** Returns the range of the live curves that a query selects: an hour by default, a day next to a longer one. */
export function rangeOf({ w }: Readonly<Record<string, string>>): Range {
  if (LONG_RANGES.some(({ id }) => id === w)) return RANGES[2];
  return RANGES.find(({ id }) => id === w) ?? RANGES[0];
}

/** Reports whether a page shows a range of the history on disk instead of live curves. */
export function isPast(query: Readonly<Record<string, string>>, { selection }: TimeWindow): boolean {
  return pageConfig.history && (selection !== undefined || LONG_RANGES.some(({ id }) => id === query.w));
}

/** The ranges of the plots as links, because the selection is in the URL. */
export function RangeNav({ path }: { path: string }) {
  const { query } = useLocation();
  const selected = widthOf(query);
  return (
    <nav class="row tight" aria-label={msg.timeRange}>
      {[...RANGES, ...(pageConfig.history ? LONG_RANGES : [])].map(({ id, label }) => (
        <a
          class="btn quiet"
          href={id === RANGES[0].id ? path : `${path}?w=${id}`}
          aria-current={id === selected ? "true" : undefined}
          key={id}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}

const MINUTE_SECS = 60;

/** Returns when the next point is available: a sample at once, the mean of a minute when the minute is over. */
const nextAtSecs = (lastAtSecs: number, stepSecs: number) =>
  lastAtSecs + (stepSecs < MINUTE_SECS ? stepSecs : 2 * stepSecs);

/** The curves of a node. A curve needs two points; for a node that has just started, it says when it will have them. */
export function HistoryCard(props: { history: Growing<SeriesColumns>; plots: readonly PlotOf[] }) {
  const { data, isStale, error } = props.history;
  const lastAt = data?.t.at(-1);
  return (
    <section class={`card ${isStale ? "old" : ""}`}>
      <header>
        <h2 class="grow">{msg.history}</h2>
      </header>
      {!data ? (
        !error && <Skeleton rows={2} height={10} />
      ) : data.t.length < 2 ? (
        <p class="empty collecting" aria-busy="true">
          {msg.theNodeHasJustStarted(
            lastAt === undefined
              ? msg.theFirstPointOfTheseCurves(formatSecs(data.step_secs))
              : msg.theseCurvesBeginAt(formatClock(nextAtSecs(lastAt, data.step_secs) * 1000)),
          )}
        </p>
      ) : (
        <Plots t={data.t} columns={data.series} plots={props.plots} />
      )}
    </section>
  );
}

const EVERY_MS = 5_000;
const MAX_EVERY_MS = 60_000;

/** Data of which only the new part is requested. Old data stays while the node does not respond. */
export interface Growing<T> {
  readonly data: T | undefined;
  readonly error: RequestFailure | undefined;
  /** Whether `data` is out of date: the last call failed, or the node has not responded for two intervals. */
  readonly isStale: boolean;
  /** When the last part arrived, in ms of `Date.now()`. */
  readonly loadedAtMs: number;
  /** When the next request is made. */
  readonly nextAtMs: number;
  refresh(): void;
}

/** Requests newer data every 5 seconds, later while the node does not respond. `next` adds it to the existing data. */
export function useGrowing<T>(
  next: (known: T | undefined, leaving: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Growing<T> {
  const growing = useMemo(() => createGrowing(next), inputs);
  useEffect(() => growing.start(), [growing]);
  return growing;
}

function createGrowing<T>(next: (known: T | undefined, leaving: AbortSignal) => Promise<T>) {
  const data: Signal<T | undefined> = signal(undefined);
  const error = signal<RequestFailure | undefined>(undefined);
  const isLate = signal(false);
  const nextAtMs = signal(0);
  let loadedAtMs = 0;
  let polling: Polling | undefined;

  async function load(leaving: AbortSignal): Promise<void> {
    try {
      const grown = await next(data.peek(), leaving);
      loadedAtMs = Date.now();
      data.value = grown;
      error.value = undefined;
    } catch (cause) {
      if (leaving.aborted) return;
      if (cause instanceof RequestFailure) error.value = cause;
      throw cause;
    }
  }

  const refresh = () => polling?.now();
  return {
    get data() {
      return data.value;
    },
    get error() {
      return error.value;
    },
    get isStale() {
      return isLate.value || error.value !== undefined;
    },
    get loadedAtMs() {
      return loadedAtMs;
    },
    get nextAtMs() {
      return nextAtMs.value;
    },
    refresh,
    start() {
      const leaving = new AbortController();
      polling = startPolling(() => load(leaving.signal), {
        isVisible,
        everyMs: EVERY_MS,
        maxMs: MAX_EVERY_MS,
        onWait: (at) => {
          nextAtMs.value = at;
        },
        onLate(late) {
          isLate.value = late;
        },
      });
      const leave = addShown({ refresh });
      return () => {
        leave();
        polling?.stop();
        leaving.abort();
      };
    },
  };
}

/** Returns the call for the rows after a time. */
export function seriesCall(path: string, range: Range, since: number): Call {
  return { method: "GET", path: `${path}?step=${range.step}${since > 0 ? `&since=${since}` : ""}` };
}

/** Returns the rows of a range. `path` is as in `/console/api/series`. */
export const useHistory = <Response extends SeriesColumns>(path: string, range: Range, send = request) =>
  useGrowing<Response>(
    async (known, signal) => {
      const call = seriesCall(path, range, known?.t.at(-1) ?? 0) as Call<Response>;
      const response = await send(call, { signal });
      return { ...known, ...response, ...joinSeries(known, response, range.secs) };
    },
    [path, range, send],
  );

/** Returns the time, updated every second while it is needed. */
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

/** Says that the node does not respond, how old the figures are, and when the page will ask again. */
export function StaleNotice({ history }: { history: Growing<unknown> }) {
  const { data, error, isStale, loadedAtMs, nextAtMs } = history;
  const now = useSeconds(isStale);
  if (!isStale) return null;
  const waitSecs = Math.max(0, Math.ceil((nextAtMs - now) / 1000));
  return (
    <div class="failure" role="alert">
      <p>
        <b>{error && error.status !== 0 ? error.status : msg.noResponse}</b>{" "}
        {error ? error.message : msg.theNodeHasNotRespondedTo}.{" "}
        {data !== undefined && (
          <span data-age>{msg.theFiguresBelowAreOld(formatSecs((now - loadedAtMs) / 1000))}</span>
        )}
        <span class="dim">{waitSecs > 0 ? msg.thePageAsksAgainInS(waitSecs) : msg.thePageIsAsking}</span>
      </p>
      <p>
        <button type="button" class="btn" onClick={() => history.refresh()}>
          {msg.askNow}
        </button>
      </p>
    </div>
  );
}
