export interface ServerSentEvent {
  /** The last id so far; "" before the first one. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/**
 * Parses a stream of server-sent events as EventSource does. An id takes effect at the empty line after it, even without data, which
 * produces no event.
 */
export class SseParser {
  readonly #maxChars: number;
  #rest = "";
  #id = "";
  #lastId = "";
  #event = "";
  #data: string[] = [];
  #chars = 0;

  /** @param maxChars the limit of a line and of the data of an event. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** The id that a client resumes with. */
  get lastId(): string {
    return this.#lastId;
  }

  /**
   * Returns the events that end in a piece of the stream.
   *
   * @throws Error for an event that is too long.
   */
  push(text: string): ServerSentEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > this.#maxChars) throw new Error("a line is too long");
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "event") this.#event = value;
    else if (field === "data") {
      this.#chars += value.length;
      if (this.#chars > this.#maxChars) throw new Error("an event is too long");
      this.#data.push(value);
    }
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    this.#lastId = this.#id;
    const data = this.#data;
    const event = this.#event || "message";
    this.#data = [];
    this.#event = "";
    this.#chars = 0;
    return data.length === 0 ? undefined : { id: this.#lastId, event, data: data.join("\n") };
  }
}
