import type { StreamPosition } from "./position.ts";
import { cursorOf } from "./position.ts";

const encoder = new TextEncoder();

/** What a stream sends at once. It is encoded once for all streams that send it, in each of both forms. */
export class Frame {
  /** Behind this position the stream goes on after the frame; undefined for a frame that is no position. */
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

  /** A size that is near the number of its bytes. */
  get size(): number {
    return this.data.length + 128;
  }

  /** A server-sent event. */
  get sse(): Uint8Array {
    this.#sse ??= encoder.encode(`${this.#idLine()}event: ${this.event}\ndata: ${this.data}\n\n`);
    return this.#sse;
  }

  /** A text message. */
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

/** A frame without an event: the stream is alive, and this is its position. */
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
