import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { EventLine } from "../content/event-line.tsx";
import { type EventStream, openEventStream } from "../data/event-stream.ts";
import { nowMs } from "../data/visibility.ts";
import { GenerateActivity } from "../demo/add-people.tsx";
import { Icon } from "../icons/icons.tsx";
import { HAS_HISTORY, useWindow } from "../moment/scrubber.tsx";
import type { Selection } from "../moment/window.ts";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { FailureBox, Skeleton } from "../parts/region.tsx";
import { PublicScrubber } from "../status/public-scrubber.tsx";
import * as msg from "../text/en/stream.ts";
import { formatAge, formatCount, formatExact } from "../text/format.ts";
import { EventLog, MAX_ROWS, type StreamRow } from "./event-log.ts";
import { FilterForm, type FormReader } from "./filter-form.tsx";
import { describeFilters, readFilters, writeFilters } from "./filters.ts";

const DRAW_MS = 250;
const ANNOUNCE_MS = 5000;
/** The filter is beside the rows, and above them on a phone, where it is folded. */
const isWide = () => matchMedia("(min-width: 62rem)").matches;
const SKELETON_ROWS = 8;

const WEBHOOK_PAGE = "/console/manage/webhooks/new";

const withQuery = (path: string, query: string) => (query === "" ? path : `${path}?${query}`);

/** The events of the network as they happen. The filters are in the URL, as the parameters of the stream. */
export function Page() {
  const { url, route } = useLocation();
  const at = url.indexOf("?");
  const query = writeFilters(readFilters(at < 0 ? "" : url.slice(at)));
  const { selection } = useWindow();
  const time = HAS_HISTORY ? selection : undefined;
  const readForm = useRef<() => Promise<string | undefined>>(undefined);
  return (
    <>
      <PageHead title={msg.stream}>
        {pageConfig.manage && (
          <a
            class="btn"
            href={withQuery(WEBHOOK_PAGE, query)}
            onClick={(event) => {
              if (!readForm.current || event.ctrlKey || event.metaKey || event.shiftKey) return;
              // The form may have a filter that is not shown yet: the webhook gets what was typed.
              event.preventDefault();
              event.stopPropagation();
              void readForm.current().then((typed) => {
                if (typed !== undefined) route(withQuery(WEBHOOK_PAGE, typed));
              });
            }}
          >
            <Icon name="webhook" />
            {msg.makeThisAWebhook}
          </a>
        )}
      </PageHead>
      <div class="stack">
        <PublicScrubber />
        <Stream query={query} time={time} readForm={readForm} key={`${query} ${time?.from} ${time?.to}`} />
      </div>
    </>
  );
}

interface Shown {
  readonly rows: readonly StreamRow[];
  readonly total: number;
  readonly perMinute: number;
}

function Stream({
  query,
  time,
  readForm,
}: {
  query: string;
  /** A past time, whose events the page shows in parts; undefined for live. */
  time: Selection | undefined;
  readForm: FormReader;
}) {
  /** The last events of the earlier parts. */
  const [earlier, setEarlier] = useState<readonly string[]>([]);
  const after = earlier.at(-1);
  const begin = after === undefined ? `since=${time?.from}` : `cursor=${after}&gap=skip`;
  const last = time ? `${begin}&until=${time.to}` : `last=${MAX_ROWS}`;
  const call = {
    method: "GET" as const,
    path: withQuery(`${apiPrefix}/stream`, query === "" ? last : `${query}&${last}`),
    isStream: true,
  };
  const filters = useMemo(() => readFilters(query), [query]);
  const [stream, setStream] = useState<EventStream>();
  const [shown, setShown] = useState<Shown>({ rows: [], total: 0, perMinute: 0 });
  const [isPaused, setPaused] = useState(false);
  /** Whether the rows that the stream begins with are here, or why they are not. */
  const [isBegun, setBegun] = useState(false);
  /** Whether a past time has events after those that are shown. */
  const [hasNewer, setHasNewer] = useState(false);
  /** Events that are announced, or that the stream began with. */
  const announced = useRef<number>(undefined);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    const log = new EventLog();
    setShown({ rows: [], total: 0, perMinute: 0 });
    setBegun(false);
    setHasNewer(false);
    const opened = openEventStream(call, {
      // Those that the stream begins with do not count as events of this minute.
      onEvent(event) {
        if (time && log.total >= MAX_ROWS) {
          setHasNewer(true);
          return opened.close();
        }
        log.add(event, Math.min(Date.now(), event.createdAt * 1000));
      },
      onGap: () => log.addGap(Date.now()),
    });
    setStream(opened);
    const draw = () => {
      if (opened.state !== "connecting") setBegun(true);
      const added = log.flush();
      const perMinute = log.perMinute(Date.now());
      setShown((last) =>
        added === 0 && last.perMinute === perMinute ? last : { rows: log.rows, total: log.total, perMinute },
      );
    };
    const announce = () => {
      const fresh = log.total - (announced.current ?? log.total);
      announced.current = log.total;
      setAnnouncement(fresh === 0 ? "" : msg.countNewEvents(fresh));
    };
    const timers = [setInterval(draw, DRAW_MS), setInterval(announce, ANNOUNCE_MS)];
    return () => {
      for (const timer of timers) clearInterval(timer);
      opened.close();
    };
  }, [earlier]);
  function toggle() {
    if (isPaused) stream?.resume();
    else stream?.pause();
    setPaused(!isPaused);
  }
  return (
    <div class={time ? "split stream" : "split stream live"}>
      <details class="card" open={isWide()}>
        <summary class="pad">{msg.filter(<span class="s dim">{describeFilters(filters)}</span>)}</summary>
        <div class="pad s fold">
          <FilterForm filters={filters} reader={readForm} />
        </div>
      </details>
      <section class="card" aria-label={msg.events}>
        <header>
          {time ? <Pill>{msg.ofThisTime}</Pill> : <State stream={stream} isPaused={isPaused} />}
          <span class="grow dim s">
            {!time && shown.perMinute > 0 && msg.inTheLastMinute(formatCount(shown.perMinute))}
          </span>
          {time && (hasNewer || earlier.length > 0) && (
            <Parts
              first={earlier.length * MAX_ROWS + 1}
              count={shown.total}
              older={earlier.length > 0 ? () => setEarlier(earlier.slice(0, -1)) : undefined}
              newer={hasNewer ? () => setEarlier([...earlier, cursorOf(shown.rows)]) : undefined}
            />
          )}
          {!time && (
            <button type="button" class="btn" aria-pressed={isPaused} onClick={toggle}>
              <Icon name={isPaused ? "play" : "pause"} /> {isPaused ? msg.resume : msg.pause}
            </button>
          )}
        </header>
        {pageConfig.demo && !time && (
          <div class="pad stack s">
            <p class="dim">{msg.aDemoNetworkIsIdleUntil}</p>
            <GenerateActivity />
          </div>
        )}
        {stream?.failure && <FailureBox failure={stream.failure} retry={() => stream.resume()} />}
        {time && stream?.state === "ended" && shown.rows.length === 0 && (
          <p class="empty">{msg.noEventsOfThisTime}</p>
        )}
        {isBegun ? (
          <Silence rows={shown.rows} stream={stream} isPaused={isPaused} isFiltered={query !== ""} />
        ) : (
          <Skeleton rows={SKELETON_ROWS} height={3} />
        )}
        <p class="skip" role="status" aria-live="polite">
          {announcement}
        </p>
        <ol class="rows events">
          {shown.rows.map((row) =>
            "event" in row ? (
              <EventLine event={row.event} withText key={row.id} />
            ) : (
              <li class="gap s" key={row.id}>
                {msg.eventsAreMissingHereTheNode(formatExact(row.gapAtMs))}
              </li>
            ),
          )}
        </ol>
        {!time && shown.rows.length === MAX_ROWS && (
          <p class="empty s">{msg.thePageKeepsTheLast(MAX_ROWS)}</p>
        )}
      </section>
      <CallPanel call={call} />
    </div>
  );
}

/** The cursor of the newest event. */
function cursorOf(rows: readonly StreamRow[]): string {
  for (const row of rows) if ("event" in row) return row.event.cursor;
  return "";
}

interface PartsProps {
  readonly first: number;
  readonly count: number;
  /** Undefined where there is none. */
  readonly older: (() => void) | undefined;
  readonly newer: (() => void) | undefined;
}

/** The part of a past time that is shown, and the way to the others. */
function Parts({ first, count, older, newer }: PartsProps) {
  return (
    <nav class="row" aria-label={msg.partsOfThisTime}>
      <span class="dim s" role="status">
        {count > 0 && msg.fromTo(formatCount(first), formatCount(first + count - 1))}
      </span>
      <button type="button" class="btn" aria-disabled={!older} onClick={older}>
        {msg.older}
      </button>
      <button type="button" class="btn" aria-disabled={!newer} onClick={newer}>
        {msg.newer}
      </button>
    </nav>
  );
}

function State({ stream, isPaused }: { stream: EventStream | undefined; isPaused: boolean }) {
  if (isPaused) return <Pill kind="warn">{msg.paused}</Pill>;
  switch (stream?.state) {
    case "open":
      return (
        <Pill kind="ok" live>
          {msg.connected}
        </Pill>
      );
    case "failed":
      return <Pill kind="bad">{msg.notConnected}</Pill>;
    default:
      return <Pill>{msg.connecting}</Pill>;
  }
}

/** What a page without rows says, and how long it has been quiet. */
function Silence(props: {
  rows: readonly StreamRow[];
  stream: EventStream | undefined;
  isPaused: boolean;
  isFiltered: boolean;
}) {
  const { rows, stream, isPaused, isFiltered } = props;
  if (isPaused) return <p class="empty s">{msg.pausedContinueAndItResumesAfter}</p>;
  if (stream?.state !== "open") return null;
  const [last] = rows;
  if (!last)
    return (
      <p class="empty">
        {msg.connectedTheNextEventAppearsHere(isFiltered && msg.noneOfTheLastEventsMatches(MAX_ROWS))}
      </p>
    );
  if (!("event" in last)) return null;
  const atMs = last.event.createdAt * 1000;
  if (nowMs.value - atMs < 60_000) return null;
  return <p class="empty s">{msg.connectedLastEventAgo(formatAge(atMs, nowMs.value))}</p>;
}
