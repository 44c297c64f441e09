import type { IndexDatabase } from "../db/index/database.ts";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { NodeEvent } from "../webhooks/event.ts";
import { buildBodies } from "../webhooks/publish/payload.ts";
import { cursorOf, type StreamPosition } from "./position.ts";

const encoder = new TextEncoder();

/** A unit that a stream sends. It is encoded once for all streams that send it, in each of the two forms. */
export class Frame {
  /** The position after which the stream continues; undefined for a frame without a position. */
  readonly position: StreamPosition | undefined;
  readonly event: string;
  /** JSON without line ends. */
  readonly data: string;
  #cursor: string | undefined;
  #sse: Uint8Array | undefined;
  #webSocket: string | undefined;

  constructor(event: string, data: string, position: StreamPosition | undefined) {
    this.event = event;
    this.data = data;
    this.position = position;
  }

  /** Approximate size in bytes. */
  get size(): number {
    return this.data.length + 128;
  }

  /** The frame as a server-sent event. */
  get sse(): Uint8Array {
    this.#sse ??= encoder.encode(`${this.#idLine()}event: ${this.event}\ndata: ${this.data}\n\n`);
    return this.#sse;
  }

  /** The frame as a text message. */
  get webSocket(): string {
    const id = this.#cursorText();
    const head = id === undefined ? "" : `"id":"${id}",`;
    this.#webSocket ??= `{${head}"event":"${this.event}","data":${this.data}}`;
    return this.#webSocket;
  }

  #idLine(): string {
    const id = this.#cursorText();
    return id === undefined ? "" : `id: ${id}\n`;
  }

  #cursorText(): string | undefined {
    this.#cursor ??= this.position && cursorOf(this.position);
    return this.#cursor;
  }
}

/** A frame without an event, which shows that the stream is alive and contains its position. */
export class KeepAliveFrame extends Frame {
  constructor(position: StreamPosition) {
    super("cursor", "null", position);
  }

  /** The id without data moves the last event id of an EventSource and fires no event. */
  override get sse(): Uint8Array {
    return encoder.encode(`: keep-alive\nid: ${this.#id()}\n\n`);
  }

  override get webSocket(): string {
    return `{"id":"${this.#id()}","event":"cursor"}`;
  }

  #id(): string {
    return this.position ? cursorOf(this.position) : "";
  }
}

/** The first frame of a stream, and the response to a new subscription. */
export function helloFrame(
  position: StreamPosition,
  facts: {
    readonly oldest: StreamPosition;
    readonly kinds: readonly string[];
    readonly resumed: boolean;
    readonly lagSecs: number;
  },
): Frame {
  const data = {
    cursor: cursorOf(position),
    oldest_cursor: cursorOf(facts.oldest),
    kinds: facts.kinds,
    resumed: facts.resumed,
    lag_secs: facts.lagSecs,
  };
  return new Frame("hello", JSON.stringify(data), position);
}

/** Returns the last frame of a stream with an end: there are no more events before the end. */
export function endFrame(position: StreamPosition, untilSecs: number): Frame {
  return new Frame("end", JSON.stringify({ cursor: cursorOf(position), until: untilSecs }), position);
}

/**
 * Returns a frame that reports that events between two positions are deleted. `from` is undefined if the client has named no
 * position.
 */
export function gapFrame(from: StreamPosition | undefined, to: StreamPosition): Frame {
  return new Frame("gap", JSON.stringify({ from: from ? cursorOf(from) : null, to: cursorOf(to) }), to);
}

/** Returns the last frame of a stream that this node ends. Its cursor resumes after the last event that was sent. */
export function errorFrame(code: string, message: string, cursor: string): Frame {
  return new Frame("error", JSON.stringify({ code, message, cursor }), undefined);
}

/** An event with the position after it. */
interface PositionedEvent {
  readonly event: NodeEvent;
  readonly position: StreamPosition;
}

/** Builds the frames of events, each with the body of a webhook delivery. */
export interface EventFrames {
  /**
   * Returns the frames by event. An event about an fid without a registration, or whose body cannot be built, has no frame.
   */
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
