import { useEffect, useState } from "preact/hooks";
import { get } from "../data/call.ts";
import { type EventStream, openEventStream, type StreamEvent } from "../data/event-stream.ts";
import { usePulse } from "../data/pulse.ts";
import { MakeSomethingHappen } from "../demo/make-happen.tsx";
import { Icon } from "../icons.tsx";
import { EventLine } from "../parts/event-line.tsx";
import { Pill } from "../parts/pill.tsx";

const SHOWN = 5;

/** The last events of the network, and those that happen. A node whose stream is off has no such card. */
export function Live({ demo }: { demo: boolean }) {
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  const [stream, setStream] = useState<EventStream>();
  useEffect(() => {
    const opened = openEventStream(get("/stream", { last: SHOWN }), {
      onEvent: (event) => setEvents((shown) => [event, ...shown].slice(0, SHOWN)),
    });
    setStream(opened);
    return () => opened.close();
  }, []);
  const { isStale } = usePulse();
  const isOpen = stream?.state === "open" && !isStale;
  if (stream?.state === "failed") return null;
  return (
    <section class="card">
      <header>
        <Icon name="broadcast" size={18} />
        <h2 class="grow">Live</h2>
        {isOpen ? (
          <Pill kind="ok" live>
            stream
          </Pill>
        ) : (
          <Pill>connecting</Pill>
        )}
      </header>
      {events.length === 0 ? (
        <div class="empty s stack">
          <p>
            {demo
              ? "A demo network rests until you start something. "
              : "Connected. The next event of the network appears here. "}
            <a href="/console/stream">Open the stream</a>
          </p>
          <MakeSomethingHappen />
        </div>
      ) : (
        <ul class="pad stack s">
          {events.map((event) => (
            <EventLine event={event} key={event.cursor} />
          ))}
        </ul>
      )}
    </section>
  );
}
