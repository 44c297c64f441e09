import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { IncidentReport } from "../../../checks/incident-report.ts";
import { useCheckTexts } from "../content/check-texts.ts";
import type { HistoryLanes } from "../data/call.ts";
import { type Query, useQuery } from "../data/query.ts";
import type { request } from "../data/request.ts";
import { nowMs } from "../data/visibility.ts";
import { pageConfig } from "../page-config.ts";
import { Region } from "../parts/region.tsx";
import { TITLES } from "../text/en/incidents.ts";
import * as msg from "../text/en/moment.ts";
import { formatClock, formatExact, formatMoment, saidIn, saidWith } from "../text/format.ts";
import { FAR, GoTo, whatIn } from "./go-to.tsx";
import { Lanes, sumsOf } from "./lanes.tsx";
import { type Selection, type TimeWindow, windowOf, withSelection } from "./window.ts";

const EVERY_MS = 15_000;
const BUCKETS = 240;
const DAY_SECS = 86_400;

/** Returns the window in the URL, and a function that changes it. */
export function useWindow(): TimeWindow & { select(selection: Selection | undefined): void } {
  const { query, path, url, route } = useLocation();
  const window = windowOf(query, Math.floor(nowMs.value / 1000));
  return {
    ...window,
    select(selection) {
      const next = withSelection(url.includes("?") ? url.slice(url.indexOf("?")) : "", selection);
      route(next === "" ? path : `${path}?${next}`, true);
    },
  };
}

const formatEdge = (secs: number, window: Selection) =>
  window.to - window.from > DAY_SECS ? formatMoment(secs * 1000) : formatClock(secs * 1000).slice(0, 5);

export interface ScrubberProps {
  /** `/history/lanes`, public or the operator's. */
  readonly path: string;
  readonly send?: typeof request;
  readonly incidents: readonly IncidentReport[];
  /** The exact number of events in the selection, if the page has counted them: the lanes have only whole buckets. */
  readonly events?: number | undefined;
  /** Called with the number of events in the selection according to the lanes. */
  readonly onEvents?: (events: number) => void;
  /** Links to the same time on other pages. */
  readonly children?: ComponentChildren;
}

/**
 * The history of the node as lanes. A range can be selected by dragging, by its two edges, by a click on an incident, or by typing. The
 * selection is in the URL, so that pages that show the same time share it.
 */
export function Scrubber(props: ScrubberProps) {
  const { path, send, incidents, events, onEvents, children } = props;
  const { select, ...window } = useWindow();
  const query = useQuery<HistoryLanes>(
    { method: "GET", path: `${path}?from=${window.from}&to=${window.to}&buckets=${BUCKETS}` },
    { ...(send && { send }), ...(window.selection ? {} : { everyMs: EVERY_MS }), scope: path },
  );
  const kept = useLast(query);
  return (
    <Region
      title={msg.time}
      call={undefined}
      query={kept}
      aside={<GoTo window={window} select={select} />}
      skeleton={<div class="lanes-bones bones" aria-busy="true" />}
    >
      {(page) => <Tracks {...{ page, window, incidents, select, events, onEvents }}>{children}</Tracks>}
    </Region>
  );
}

/** The history is a read of the API, which may need a key. */
export const HAS_HISTORY = pageConfig.history && pageConfig.anonymous;

/** The last response stays while that of another window is loading. */
function useLast(query: Query<HistoryLanes>): Query<HistoryLanes> {
  const last = useRef<HistoryLanes | undefined>(undefined);
  const { data = last.current, error, isStale, loading, loadedAtMs } = query;
  useEffect(() => {
    if (query.data) last.current = query.data;
  }, [query.data]);
  return { data, error, isStale, loading, loadedAtMs, refresh: () => query.refresh() };
}

interface TracksProps {
  readonly page: HistoryLanes;
  readonly window: TimeWindow;
  readonly incidents: readonly IncidentReport[];
  readonly select: (selection: Selection | undefined) => void;
  readonly events: number | undefined;
  readonly onEvents: ((events: number) => void) | undefined;
  readonly children: ComponentChildren;
}

function Tracks({ page, window, incidents, select, events, onEvents, children }: TracksProps) {
  const chosen = window.selection;
  const inLanes = chosen ? sumsOf(page, chosen).events : 0;
  useEffect(() => onEvents?.(inLanes), [inLanes]);
  const area = useRef<HTMLDivElement>(null);
  /** Set while an edge or a range is dragged. */
  const [drag, setDrag] = useState<{ readonly anchor: number; readonly selection: Selection }>();
  const step = page.bucket_secs;
  const selection = drag?.selection ?? window.selection;
  const edges = selection ?? { from: window.from, to: window.to };
  const span = window.to - window.from;
  const part = (secs: number) => Math.min(100, Math.max(0, ((secs - window.from) / span) * 100));
  const snapped = (secs: number) =>
    Math.min(window.to, Math.max(window.from, Math.round(secs / step) * step));
  const timeAt = (event: PointerEvent) => {
    const { left, width } = area.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return snapped(window.from + ((event.clientX - left) / Math.max(1, width)) * span);
  };
  const between = (a: number, b: number): Selection => ({
    from: Math.min(a, b),
    to: Math.max(a, b, Math.min(a, b) + step),
  });

  const start = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const role = (event.target as HTMLElement).closest<HTMLElement>("[data-edge]")?.dataset.edge;
    const at = timeAt(event);
    const anchor = role === "from" ? edges.to : role === "to" ? edges.from : at;
    area.current?.setPointerCapture(event.pointerId);
    setDrag({ anchor, selection: role ? edges : between(at, at) });
  };
  const move = (event: PointerEvent) => {
    if (drag) setDrag({ ...drag, selection: between(drag.anchor, timeAt(event)) });
  };
  const end = () => {
    if (drag) select(drag.selection);
    setDrag(undefined);
  };

  const shown = incidents.filter(
    ({ opened_at: at, resolved_at: until }) => at < window.to && (until ?? window.to) >= window.from,
  );
  const texts = useCheckTexts(shown.length > 0);
  const toIncident = (by: -1 | 1) => {
    const at = selection?.from ?? (by < 0 ? window.to : window.from);
    const sorted = incidents.toSorted((a, b) => a.opened_at - b.opened_at);
    const next =
      by < 0 ? sorted.findLast((one) => one.opened_at < at) : sorted.find((one) => one.opened_at > at);
    if (next) select(rangeOf(next, window.to));
  };
  const onKey = (edge: "from" | "to") => (event: KeyboardEvent) => {
    const by = (event.shiftKey ? FAR : 1) * step;
    const moves: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => shift(edge, -by),
      ArrowRight: () => shift(edge, by),
      ArrowDown: () => shift(edge, -by),
      ArrowUp: () => shift(edge, by),
      Home: () => shift(edge, Number.NEGATIVE_INFINITY),
      End: () => shift(edge, Number.POSITIVE_INFINITY),
      l: () => select(undefined),
      "[": () => toIncident(-1),
      "]": () => toIncident(1),
    };
    const act = moves[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  function shift(edge: "from" | "to", by: number) {
    const from = edge === "from" ? Math.min(edges.to - step, snapped(edges.from + by)) : edges.from;
    const to = edge === "to" ? Math.max(edges.from + step, snapped(edges.to + by)) : edges.to;
    select({ from: Math.max(window.from, from), to: Math.min(window.to, to) });
  }

  const text = (secs: number) => formatEdge(secs, window);
  const valueText = msg.rangeText(
    text(edges.from),
    text(edges.to),
    `, ${whatIn(page, edges, drag ? undefined : events)}`,
  );
  const handle = (edge: "from" | "to") => (
    <div
      class="edge"
      role="slider"
      tabIndex={0}
      data-edge={edge}
      aria-label={edge === "from" ? msg.begin : msg.end}
      aria-valuemin={window.from}
      aria-valuemax={window.to}
      aria-valuenow={edges[edge]}
      aria-valuetext={valueText}
      title={msg.keysOfTheScrubber}
      style={{ insetInlineStart: `${part(edges[edge])}%` }}
      onKeyDown={onKey(edge)}
    />
  );
  return (
    <>
      <div class="scrub pad">
        <Lanes.Names page={page} />
        <div
          class="tracks"
          ref={area}
          onPointerDown={start}
          onPointerMove={move}
          onPointerUp={end}
          onPointerCancel={end}
        >
          <div class="incs">
            {shown.map((incident) => (
              <button
                type="button"
                class={`inc ${incident.severity}`}
                key={incident.id}
                title={`${saidIn(TITLES, incident.title)}: ${saidWith(texts, incident.sentence)}`}
                aria-label={saidIn(TITLES, incident.title)}
                style={{
                  insetInlineStart: `min(${part(incident.opened_at)}%, 100% - 1.5rem)`,
                  inlineSize: `max(1.5rem, ${part(incident.resolved_at ?? window.to) - part(incident.opened_at)}%)`,
                }}
                onPointerDown={(event) => event.stopPropagation()}
                onClick={() => select(rangeOf(incident, window.to))}
              />
            ))}
          </div>
          <Lanes.Bars page={page} window={window} />
          {page.watched_since !== null && page.watched_since > window.from && (
            <div
              class="unkept"
              title={msg.notWatched}
              style={{ inlineSize: `${part(page.watched_since)}%` }}
            />
          )}
          {page.recorded_until < window.to && (
            <div
              class="unkept late"
              title={msg.notRecordedYet}
              style={{ inlineSize: `${100 - part(page.recorded_until)}%` }}
            />
          )}
          {selection && (
            <>
              <div class="fade" style={{ inlineSize: `${part(edges.from)}%` }} />
              <div class="fade late" style={{ inlineSize: `${100 - part(edges.to)}%` }} />
            </>
          )}
          {handle("from")}
          {handle("to")}
        </div>
        <div class="axis xs dim">
          {[0, 1, 2, 3, 4].map((at) => (
            <span key={at}>{text(window.from + (at / 4) * span)}</span>
          ))}
        </div>
        <Lanes.Marks page={page} window={window} />
      </div>
      <div class={`row wrap pad moment ${window.selection ? "chosen" : ""}`}>
        <span class="grow roomy" role="status">
          {selection
            ? msg.viewing(
                <EdgeTime secs={selection.from} />,
                <EdgeTime secs={selection.to} />,
                `: ${whatIn(page, selection, drag ? undefined : events)}`,
              )
            : msg.dragToLookAtAMoment}
        </span>
        {window.selection && children}
        {window.selection && (
          <button type="button" class="btn go" onClick={() => select(undefined)}>
            {msg.backToLive}
          </button>
        )}
      </div>
    </>
  );
}

function EdgeTime({ secs }: { secs: number }) {
  return (
    <time dateTime={new Date(secs * 1000).toISOString()} title={formatExact(secs * 1000)}>
      <b>{formatMoment(secs * 1000)}</b>
    </time>
  );
}

/** Returns the time range of an incident, in whole minutes. */
function rangeOf({ opened_at: from, resolved_at: to }: IncidentReport, end: number): Selection {
  const start = from - (from % 60);
  return { from: start, to: Math.max(start + 60, Math.ceil((to ?? end) / 60) * 60) };
}
