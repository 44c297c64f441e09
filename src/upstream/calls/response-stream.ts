import type { ClientReadableStream } from "@grpc/grpc-js";

export interface ResponseStreamOptions {
  readonly method: string;
  /** If nothing arrives for this long while the consumer waits, the stream ends with an error. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** Called for each response, and when a stream ends without an error. */
  readonly onResponse: () => void;
  /** Returns the error to throw for an error of the call. */
  readonly errorOf: (cause: unknown) => unknown;
}

/** Thrown if a stream was ended here because nothing arrived. The whole network may be silent. */
export class SilentStreamError extends Error {
  override name = "SilentStreamError";
}

/**
 * A stream of responses with backpressure: it is read as fast as its consumer. It ends when it is disposed of, when `signal`
 * aborts and, with an error, when nothing arrives for `stallMs` while the consumer waits.
 */
export class ResponseStream<Response> implements AsyncIterableIterator<Response>, Disposable {
  readonly #call: ClientReadableStream<Response>;
  readonly #options: ResponseStreamOptions;
  readonly #responses: AsyncIterator<Response>;
  readonly #watchdog: NodeJS.Timeout;
  #isWaiting = false;
  #error: unknown;

  constructor(call: ClientReadableStream<Response>, options: ResponseStreamOptions) {
    const { method, stallMs, signal } = options;
    this.#call = call;
    this.#options = options;
    // An error between two reads must not be uncaught, and an iterator that starts after it would only end. The next read
    // throws it.
    call.on("error", (cause) => {
      this.#error ??= cause;
    });
    this.#responses = call[Symbol.asyncIterator]();
    this.#watchdog = setTimeout(() => {
      if (this.#isWaiting) call.destroy(new SilentStreamError(`${method} sent nothing for ${stallMs} ms`));
      else this.#watchdog.refresh();
    }, stallMs);
    signal.addEventListener("abort", this.#abort);
    if (signal.aborted) this.#abort();
  }

  async next(): Promise<IteratorResult<Response>> {
    this.#watchdog.refresh();
    this.#isWaiting = true;
    try {
      const next = await this.#responses.next();
      if (next.done && this.#error !== undefined) throw this.#error;
      this.#options.onResponse();
      return next;
    } catch (cause) {
      throw this.#options.errorOf(cause);
    } finally {
      this.#isWaiting = false;
    }
  }

  async return(): Promise<IteratorResult<Response>> {
    this[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#watchdog);
    this.#options.signal.removeEventListener("abort", this.#abort);
    this.#call.cancel();
    this.#call.destroy();
  }

  readonly #abort = () => {
    this.#call.destroy(new Error("stopped"));
  };
}
