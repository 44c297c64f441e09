import { useEffect, useRef, useState } from "preact/hooks";
import { EventLine } from "../content/event-line.tsx";
import { type Cast, get } from "../data/call.ts";
import { type EventStream, openEventStream, type StreamEvent } from "../data/event-stream.ts";
import { usePulse, useQuery } from "../data/query.ts";
import { Icon } from "../icons/icons.tsx";
import { Pill } from "../parts/pill.tsx";
import * as msg from "../text/en/landing.ts";

const SHOWN = 20;
/** Casts from the following feed of a person of the demo network. */
const NEWEST = get("/feed/following", { fid: 3, limit: SHOWN });
/** The minimum interval between new rows, so that each can be read. */
const ROW_MS = 600;
/** Maximum number of waiting rows; older ones are dropped. */
const MAX_WAITING = 100;

/** Returns casts as events, without those that the events already have. */
function castsBefore(events: readonly StreamEvent[], casts: readonly Cast[]): StreamEvent[] {
  const shown = new Set(events.map(({ data }) => (data as Partial<Cast>).hash));
  return casts
    .filter(({ hash }) => !shown.has(hash))
    .map((data) => ({ cursor: data.hash, kind: "cast.created", createdAt: data.timestamp, data }));
}

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Shows the last events of the network, and new ones as they happen. Pauses while the pointer or the focus is inside it, and for visitors
 * who prefer reduced motion.
 */
export function Live({ demo }: { demo: boolean }) {
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [stream, setStream] = useState<EventStream>();
  /** Whether the node had no events. A demo network then shows its newest casts, also below its first events. */
  const [wasIdle, setWasIdle] = useState(false);
  const newest = useQuery(demo && wasIdle ? NEWEST : undefined).data?.casts ?? [];
  const rows = [...events, ...castsBefore(events, newest)].slice(0, SHOWN);
  const ticker = useRef<HTMLDivElement>(null);
  const queue = useRef<StreamEvent[]>([]);

  const show = (count: number) => {
    const next = queue.current.splice(0, count).reverse();
    setWaiting(queue.current.length);
    if (next[0]) setEvents((shown) => [...next, ...shown].slice(0, SHOWN));
    return next.length;
  };
  useEffect(() => {
    const opened = openEventStream(get("/stream", { last: SHOWN }), {
      onEvent(event) {
        queue.current = [...queue.current, event].slice(-MAX_WAITING);
      },
    });
    setStream(opened);
    // The first events of the stream appear at once.
    let isFirst = true;
    const timer = setInterval(() => {
      if (isFirst) isFirst = show(SHOWN) === 0;
      else show(isStill() || ticker.current?.matches(":hover, :focus-within") ? 0 : 1);
      if (isFirst) setWasIdle(true);
    }, ROW_MS);
    return () => {
      clearInterval(timer);
      opened.close();
    };
  }, []);
  const { isStale } = usePulse();
  const isOpen = stream?.state === "open" && !isStale;
  if (stream?.state === "failed") return null;
  return (
    <section class="card">
      <header>
        <Icon name="broadcast" size={18} />
        <h2 class="grow">{msg.live}</h2>
        {waiting > 1 && (
          <button type="button" class="btn quiet" onClick={() => show(waiting)}>
            {msg.showNew(waiting)}
          </button>
        )}
        {isOpen ? (
          <Pill kind="ok" live>
            {msg.stream}
          </Pill>
        ) : (
          <Pill>{msg.connecting}</Pill>
        )}
      </header>
      <div class="ticker" ref={ticker}>
        {events.length === 0 && (
          <p class="empty s">
            {demo ? msg.aDemoNetworkIsIdleUntil : msg.connectedTheNextEventOfThe}
            <a href="/console/stream">{msg.openTheStream}</a>
          </p>
        )}
        {rows.length > 0 && (
          <ul class="pad stack s">
            {rows.map((event) => (
              <EventLine event={event} key={event.cursor} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
