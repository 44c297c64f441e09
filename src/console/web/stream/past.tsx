import { useEffect, useState } from "preact/hooks";
import { type EventStream, openEventStream } from "../data/event-stream.ts";
import type { Selection } from "../moment/window.ts";
import { apiPrefix } from "../page-config.ts";
import { Pill } from "../parts/pill.tsx";
import { FailureBox, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/stream.ts";
import { formatCount } from "../text/format.ts";
import { EventLog, MAX_ROWS, type StreamRow } from "./event-log.ts";
import type { FormReader } from "./filter-form.tsx";
import { EventRows, StreamLayout } from "./layout.tsx";

/** The maximum number of events of a past time range that the page reads: the last ones. */
const MAX_EVENTS = 10_000;
const DRAW_MS = 250;
/** While events arrive continuously, every eighth update is rendered. */
const DRAWN_OF = 8;
const SKELETON_ROWS = 8;

interface Read {
  readonly rows: readonly StreamRow[];
  readonly hasEnded: boolean;
}

/** The events of a past time range, newest first, in parts. */
export function PastStream(props: {
  query: string;
  time: Selection;
  /** How many events the history counts for this range. */
  expected: number;
  /** Called with the number of all events of this range, once it is known. */
  onCounted: (count: number) => void;
  readForm: FormReader;
}) {
  const { query, time, expected, onCounted, readForm } = props;
  const range = `since=${time.from}&until=${time.to}&last=${MAX_EVENTS}`;
  const call = {
    method: "GET" as const,
    path: `${apiPrefix}/stream?${query === "" ? range : `${query}&${range}`}`,
    isStream: true,
  };
  const [stream, setStream] = useState<EventStream>();
  const [{ rows, hasEnded }, setRead] = useState<Read>({ rows: [], hasEnded: false });
  /** 0 is the part with the newest events. */
  const [part, setPart] = useState(0);
  const hasAll = query === "" && expected <= MAX_EVENTS;
  useEffect(() => {
    const log = new EventLog({ maxRows: MAX_EVENTS });
    const opened = openEventStream(call, {
      onEvent: (event) => log.add(event, event.createdAt * 1000),
      onGap: () => log.addGap(time.from * 1000),
    });
    setStream(opened);
    let skipped = 0;
    const draw = () => {
      const hasEnded = opened.state === "ended";
      // While more arrive, the newest are still missing, so rendered rows would move away at once. A range that has not ended may never
      // pause.
      if (log.flush() > 0 && !hasEnded && ++skipped % DRAWN_OF !== 0) return;
      setRead((last) =>
        last.rows === log.rows && last.hasEnded === hasEnded ? last : { rows: log.rows, hasEnded },
      );
      if (hasEnded) clearInterval(timer);
    };
    const timer = setInterval(draw, DRAW_MS);
    return () => {
      clearInterval(timer);
      opened.close();
    };
  }, []);
  const events = rows.reduce((sum, row) => ("event" in row ? sum + 1 : sum), 0);
  useEffect(() => {
    // Not with a gap, because the history also counted the missing events.
    if (hasEnded && hasAll && events === rows.length) onCounted(events);
  }, [hasEnded, hasAll, events]);
  const shown = rows.slice(part * MAX_ROWS, (part + 1) * MAX_ROWS);
  const header = (
    <>
      <Pill>{msg.ofThisTime}</Pill>
      <span class="grow dim s" role={hasEnded ? "status" : undefined}>
        {shown.length > 0 &&
          msg.fromToOf(
            formatCount(part * MAX_ROWS + 1),
            formatCount(part * MAX_ROWS + shown.length),
            // The range is still being read.
            hasEnded ? formatCount(rows.length) : `${formatCount(rows.length)}…`,
          )}
      </span>
      {rows.length > MAX_ROWS && (
        <nav class="row" aria-label={msg.partsOfThisTime}>
          <button
            type="button"
            class="btn"
            aria-disabled={part === 0}
            onClick={() => setPart(Math.max(0, part - 1))}
          >
            {msg.newer}
          </button>
          <button
            type="button"
            class="btn"
            aria-disabled={(part + 1) * MAX_ROWS >= rows.length}
            onClick={() => (part + 1) * MAX_ROWS < rows.length && setPart(part + 1)}
          >
            {msg.older}
          </button>
        </nav>
      )}
    </>
  );
  return (
    <StreamLayout query={query} readForm={readForm} call={call} isLive={false} header={header}>
      {stream?.failure && <FailureBox failure={stream.failure} retry={() => stream.resume()} />}
      {expected > MAX_EVENTS && (
        <p class="pad s dim">{msg.onlyTheLastOfThisTime(formatCount(MAX_EVENTS), formatCount(expected))}</p>
      )}
      {rows.length === 0 &&
        (hasEnded ? (
          <p class="empty">{msg.noEventsOfThisTime}</p>
        ) : (
          !stream?.failure && <Skeleton rows={SKELETON_ROWS} height={3} />
        ))}
      <EventRows rows={shown} />
    </StreamLayout>
  );
}
