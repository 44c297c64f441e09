import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type EventStream, openEventStream } from "../data/event-stream.ts";
import { formatAge, formatCount, formatExact, plural } from "../data/format.ts";
import { nowMs } from "../data/now.ts";
import { MakeSomethingHappen } from "../demo/make-happen.tsx";
import { Icon } from "../icons.tsx";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { EventLine } from "../parts/event-line.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Pill } from "../parts/pill.tsx";
import { EventLog, MAX_ROWS, type StreamRow } from "./event-log.ts";
import { FilterForm } from "./filter-form.tsx";
import { describeFilters, readFilters, writeFilters } from "./filters.ts";

const DRAW_MS = 250;
const ANNOUNCE_MS = 5000;

/** The events of the network as they happen. The filters are in the URL, as the parameters of the stream. */
export function Page() {
  const { url } = useLocation();
  const at = url.indexOf("?");
  const query = writeFilters(readFilters(at < 0 ? "" : url.slice(at)));
  return (
    <>
      <PageHead title="Stream">
        {pageConfig.manage && (
          <a class="btn" href={`/console/manage/webhooks/new${query === "" ? "" : `?${query}`}`}>
            <Icon name="webhook" /> Make this a webhook
          </a>
        )}
      </PageHead>
      <Stream query={query} key={query} />
    </>
  );
}

interface Shown {
  readonly rows: readonly StreamRow[];
  readonly total: number;
  readonly perMinute: number;
}

function Stream({ query }: { query: string }) {
  const call = {
    method: "GET" as const,
    path: `${apiPrefix}/stream${query === "" ? "" : `?${query}`}`,
    isStream: true,
  };
  const filters = useMemo(() => readFilters(query), [query]);
  const [stream, setStream] = useState<EventStream>();
  const [shown, setShown] = useState<Shown>({ rows: [], total: 0, perMinute: 0 });
  const [isPaused, setPaused] = useState(false);
  const announced = useRef(0);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    const log = new EventLog();
    const opened = openEventStream(call, {
      onEvent: (event) => log.add(event, Date.now()),
      onGap: () => log.addGap(Date.now()),
    });
    setStream(opened);
    const draw = () => {
      const added = log.flush();
      const perMinute = log.perMinute(Date.now());
      setShown((last) =>
        added === 0 && last.perMinute === perMinute ? last : { rows: log.rows, total: log.total, perMinute },
      );
    };
    const announce = () => {
      const fresh = log.total - announced.current;
      announced.current = log.total;
      setAnnouncement(fresh === 0 ? "" : plural(fresh, "new event"));
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
  return (
    <div class="split">
      <section class="card stream" aria-label="Events">
        <header>
          <State stream={stream} isPaused={isPaused} />
          <span class="grow dim s">
            {shown.perMinute > 0 && `${formatCount(shown.perMinute)} in the last minute`}
          </span>
          <button type="button" class="btn" aria-pressed={isPaused} onClick={toggle}>
            <Icon name={isPaused ? "play" : "pause"} /> {isPaused ? "Go on" : "Pause"}
          </button>
        </header>
        {pageConfig.demo && (
          <div class="pad stack s">
            <p class="dim">A demo network rests until you start something.</p>
            <MakeSomethingHappen />
          </div>
        )}
        {stream?.failure && <FailureBox failure={stream.failure} retry={() => stream.resume()} />}
        <Silence rows={shown.rows} stream={stream} isPaused={isPaused} />
        <p class="skip" role="status" aria-live="polite">
          {announcement}
        </p>
        <ol class="rows events">
          {shown.rows.map((row) =>
            "event" in row ? (
              <EventLine event={row.event} withText key={row.id} />
            ) : (
              <li class="gap s" key={row.id}>
                Events are missing here: the node no longer has them. {formatExact(row.gapAtMs)}
              </li>
            ),
          )}
        </ol>
        {shown.rows.length === MAX_ROWS && (
          <p class="empty s">Older ones than these {MAX_ROWS} are not kept on the page.</p>
        )}
      </section>
      <div class="stack">
        <CallPanel call={call} />
        <section class="card">
          <header>
            <h2 class="grow">Filter</h2>
          </header>
          <div class="pad stack s">
            <p class="dim">{describeFilters(filters)}</p>
            <FilterForm filters={filters} />
          </div>
        </section>
      </div>
    </div>
  );
}

function State({ stream, isPaused }: { stream: EventStream | undefined; isPaused: boolean }) {
  if (isPaused) return <Pill kind="warn">Paused</Pill>;
  switch (stream?.state) {
    case "open":
      return (
        <Pill kind="ok" live>
          Connected
        </Pill>
      );
    case "failed":
      return <Pill kind="bad">Not connected</Pill>;
    default:
      return <Pill>Connecting</Pill>;
  }
}

/** What a page without rows says, and how long it has been quiet. */
function Silence({
  rows,
  stream,
  isPaused,
}: {
  rows: readonly StreamRow[];
  stream: EventStream | undefined;
  isPaused: boolean;
}) {
  if (isPaused)
    return <p class="empty s">Paused. It goes on behind the last event that you see, so you miss nothing.</p>;
  if (stream?.state !== "open") return null;
  const [last] = rows;
  if (!last) return <p class="empty">Connected. The next event appears here as it happens.</p>;
  if (!("event" in last)) return null;
  const atMs = last.event.createdAt * 1000;
  if (nowMs.value - atMs < 60_000) return null;
  return <p class="empty s">Connected, last event {formatAge(atMs, nowMs.value)} ago.</p>;
}
