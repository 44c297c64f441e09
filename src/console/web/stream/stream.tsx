import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type EventStream, openEventStream } from "../data/event-stream.ts";
import { nowMs } from "../data/visibility.ts";
import { GenerateActivity } from "../demo/add-people.tsx";
import { Icon } from "../icons/icons.tsx";
import { HAS_HISTORY, useWindow } from "../moment/scrubber.tsx";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { FailureBox, Skeleton } from "../parts/region.tsx";
import { PageScrubber } from "../status/page-scrubber.tsx";
import * as msg from "../text/en/stream.ts";
import { formatAge, formatCount } from "../text/format.ts";
import { EventLog, MAX_ROWS, type StreamRow } from "./event-log.ts";
import type { FormReader } from "./filter-form.tsx";
import { readFilters, writeFilters } from "./filters.ts";
import { EventRows, StreamLayout } from "./layout.tsx";
import { PastStream } from "./past.tsx";

const DRAW_MS = 250;
const ANNOUNCE_MS = 5000;
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
  /** How many events of the range the history counts, and how many the list has, which is more exact. */
  const [expected, setExpected] = useState(0);
  const [counted, setCounted] = useState<number>();
  useEffect(() => setCounted(undefined), [time?.from, time?.to]);
  return (
    <>
      <PageHead title={msg.stream}>
        {pageConfig.manage && (
          <a
            class="btn"
            href={withQuery(WEBHOOK_PAGE, query)}
            onClick={(event) => {
              if (!readForm.current || event.ctrlKey || event.metaKey || event.shiftKey) return;
              // The form may have a filter that is not shown yet: the webhook gets what was entered.
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
        <PageScrubber events={time && counted} onEvents={setExpected} />
        {time ? (
          <PastStream
            query={query}
            time={time}
            expected={expected}
            onCounted={setCounted}
            readForm={readForm}
            key={`${query} ${time.from} ${time.to}`}
          />
        ) : (
          <LiveStream query={query} readForm={readForm} key={query} />
        )}
      </div>
    </>
  );
}

interface Shown {
  readonly rows: readonly StreamRow[];
  readonly total: number;
  /** Events of the last minute, as "300+" if there may have been more; empty for none. */
  readonly perMinute: string;
}

const NONE: Shown = { rows: [], total: 0, perMinute: "" };

function LiveStream({ query, readForm }: { query: string; readForm: FormReader }) {
  const last = `last=${MAX_ROWS}`;
  const call = {
    method: "GET" as const,
    path: withQuery(`${apiPrefix}/stream`, query === "" ? last : `${query}&${last}`),
    isStream: true,
  };
  const [stream, setStream] = useState<EventStream>();
  const [shown, setShown] = useState<Shown>(NONE);
  const [isPaused, setPaused] = useState(false);
  /** Whether the rows with which the stream starts have arrived, or why not. */
  const [isBegun, setBegun] = useState(false);
  /** Events that have been announced, or with which the stream started. */
  const announced = useRef<number>(undefined);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    const log = new EventLog({ beganMs: Date.now() });
    setShown(NONE);
    setBegun(false);
    const opened = openEventStream(call, {
      // Events with which the stream starts do not count as events of this minute.
      onEvent: (event) => log.add(event, Math.min(Date.now(), event.createdAt * 1000)),
      onGap: () => log.addGap(Date.now()),
    });
    setStream(opened);
    const draw = () => {
      if (opened.state !== "connecting") setBegun(true);
      const added = log.flush();
      const { count, isAtLeast } = log.perMinute(Date.now());
      const perMinute = count === 0 ? "" : `${formatCount(count)}${isAtLeast ? "+" : ""}`;
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
  }, []);
  function toggle() {
    if (isPaused) stream?.resume();
    else stream?.pause();
    setPaused(!isPaused);
  }
  const header = (
    <>
      <State stream={stream} isPaused={isPaused} />
      <span class="grow dim s">{shown.perMinute !== "" && msg.inTheLastMinute(shown.perMinute)}</span>
      <button type="button" class="btn" aria-pressed={isPaused} onClick={toggle}>
        <Icon name={isPaused ? "play" : "pause"} /> {isPaused ? msg.resume : msg.pause}
      </button>
    </>
  );
  return (
    <StreamLayout query={query} readForm={readForm} call={call} isLive header={header}>
      {pageConfig.demo && (
        <div class="pad s">
          <GenerateActivity idle={shown.perMinute === "" ? msg.aDemoNetworkIsIdleUntil : ""} />
        </div>
      )}
      {stream?.failure && <FailureBox failure={stream.failure} retry={() => stream.resume()} />}
      {isBegun ? (
        <Silence rows={shown.rows} stream={stream} isPaused={isPaused} isFiltered={query !== ""} />
      ) : (
        <Skeleton rows={SKELETON_ROWS} height={3} />
      )}
      <p class="skip" role="status" aria-live="polite">
        {announcement}
      </p>
      <EventRows rows={shown.rows} />
      {shown.rows.length === MAX_ROWS && <p class="empty s">{msg.thePageKeepsTheLast(MAX_ROWS)}</p>}
    </StreamLayout>
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

/** Shown on a page without rows, with how long it has been quiet. */
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
