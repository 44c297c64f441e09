import type { ClientReadableStream } from "@grpc/grpc-js";
import { peerErrorOf } from "./peer.ts";

/**
 * A stream of responses with backpressure: it is read as fast as its consumer. It ends when it is disposed of, when
 * `signal` aborts and, with an error, when nothing arrives for `stallMs` while the consumer waits.
 */
export class ResponseStream<Response> implements AsyncIterableIterator<Response>, Disposable {
  readonly #call: ClientReadableStream<Response>;
  readonly #method: string;
  readonly #responses: AsyncIterator<Response>;
  readonly #watchdog: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  #isWaiting = false;

  constructor(call: ClientReadableStream<Response>, method: string, stallMs: number, signal: AbortSignal) {
    this.#call = call;
    this.#method = method;
    this.#signal = signal;
    // An error between two reads must not be uncaught. The next read throws it.
    call.on("error", () => {});
    this.#responses = call[Symbol.asyncIterator]();
    this.#watchdog = setTimeout(() => {
      if (this.#isWaiting) call.destroy(new Error(`${method} sent nothing for ${stallMs} ms`));
      else this.#watchdog.refresh();
    }, stallMs);
    signal.addEventListener("abort", this.#abort);
    if (signal.aborted) this.#abort();
  }

  async next(): Promise<IteratorResult<Response>> {
    this.#watchdog.refresh();
    this.#isWaiting = true;
    try {
      return await this.#responses.next();
    } catch (cause) {
      throw peerErrorOf(this.#method, cause) ?? cause;
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
    this.#signal.removeEventListener("abort", this.#abort);
    this.#call.cancel();
    this.#call.destroy();
  }

  readonly #abort = () => {
    this.#call.destroy(new Error("stopped"));
  };
}
