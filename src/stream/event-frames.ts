import type { IndexDatabase } from "../db/index/database.ts";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { NodeEvent } from "../webhooks/publish/event.ts";
import { buildBodies } from "../webhooks/publish/payload.ts";
import { Frame } from "./frame.ts";
import type { StreamPosition } from "./position.ts";

/** An event and the position behind it. */
export interface PositionedEvent {
  readonly event: NodeEvent;
  readonly position: StreamPosition;
}

/** Builds the frames of events, each with the body of a webhook delivery. */
export interface EventFrames {
  /** An event about an fid without a registration, or whose body cannot be built, has no frame. */
  of<Event extends PositionedEvent>(events: readonly Event[]): Map<Event, Frame>;
}

export function createEventFrames(deps: {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  /** Called for an event whose body cannot be built. */
  readonly onFault: (seq: number, cause: unknown) => void;
}): EventFrames {
  const { db, clock, onFault } = deps;

  function bodiesOf(events: readonly PositionedEvent[]): Map<NodeEvent, string> {
    try {
      return db.snapshot(() =>
        buildBodies(
          db,
          events.map(({ event }) => event),
          nowSecs(clock),
        ),
      );
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      const [first] = events;
      if (first && events.length > 1) return new Map(events.flatMap((event) => [...bodiesOf([event])]));
      if (first) onFault(first.position.seq, cause);
      return new Map();
    }
  }

  return {
    of(events) {
      const bodies = events.length === 0 ? new Map<NodeEvent, string>() : bodiesOf(events);
      return new Map(
        events.flatMap((one) => {
          const body = bodies.get(one.event);
          return body === undefined ? [] : [[one, new Frame(one.event.kind, body, one.position)]];
        }),
      );
    },
  };
}
