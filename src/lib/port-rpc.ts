/** Requests and answers over a MessagePort, so that two workers can work for each other without the main thread. */

interface RequestFrame<Request> {
  readonly id: number;
  readonly request: Request;
}

type AnswerFrame<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly fault: string };

/** Answers every request that comes over `port`; a fault of `handle` reaches the caller as its message alone. */
export function serveRpc<Request, Answer>(
  port: MessagePort,
  handle: (request: Request) => Answer | Promise<Answer>,
): void {
  port.onmessage = async (event) => {
    const { id, request }: RequestFrame<Request> = event.data;
    try {
      port.postMessage({ id, answer: await handle(request) } satisfies AnswerFrame<Answer>);
    } catch (cause) {
      const fault = cause instanceof Error ? cause.message : String(cause);
      port.postMessage({ id, fault } satisfies AnswerFrame<Answer>);
    }
  };
}

/** The asking side of `serveRpc`. */
export class RpcClient<Request, Answer> {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #nextId = 1;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = (event) => this.#settle(event.data);
  }

  call(request: Request): Promise<Answer> {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<Answer>();
    this.#waiting.set(id, waiting);
    this.#port.postMessage({ id, request } satisfies RequestFrame<Request>);
    return waiting.promise;
  }

  #settle(frame: AnswerFrame<Answer>): void {
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    if ("fault" in frame) waiting?.reject(new Error(frame.fault));
    else waiting?.resolve(frame.answer);
  }
}
