/** Requests and responses over a MessagePort, so that two workers can communicate without the main thread. */

interface RequestFrame<Request> {
  readonly id: number;
  readonly request: Request;
}

type ResponseFrame<Response> =
  | { readonly id: number; readonly response: Response }
  | { readonly id: number; readonly fault: string };

/** Serves requests over `port`. The caller gets only the message of an error that `handle` throws. */
export function serveRpc<Request, Response>(
  port: MessagePort,
  handle: (request: Request) => Response | Promise<Response>,
): void {
  port.onmessage = async (event) => {
    const { id, request }: RequestFrame<Request> = event.data;
    try {
      port.postMessage({ id, response: await handle(request) } satisfies ResponseFrame<Response>);
    } catch (cause) {
      const fault = cause instanceof Error ? cause.message : String(cause);
      port.postMessage({ id, fault } satisfies ResponseFrame<Response>);
    }
  };
}

/** The client of `serveRpc`. */
export class RpcClient<Request, Response> {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, PromiseWithResolvers<Response>>();
  #nextId = 1;

  constructor(port: MessagePort) {
    this.#port = port;
    port.onmessage = (event) => this.#settle(event.data);
  }

  call(request: Request): Promise<Response> {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<Response>();
    this.#waiting.set(id, waiting);
    this.#port.postMessage({ id, request } satisfies RequestFrame<Request>);
    return waiting.promise;
  }

  #settle(frame: ResponseFrame<Response>): void {
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    if ("fault" in frame) waiting?.reject(new Error(frame.fault));
    else waiting?.resolve(frame.response);
  }
}
