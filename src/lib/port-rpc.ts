/** Remote procedure calls over a MessagePort, so that two workers can communicate without the main thread. */

/** A method call. Arguments and results are copied between threads, so they must be plain data. */
interface CallFrame {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type ReturnFrame =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly fault: string };

/** An interface whose methods can be called over a port. */
type RpcInterface<Rpc> = { readonly [Method in keyof Rpc]: (...args: never[]) => unknown };

/** The server's side of `Rpc`: each method returns its result or a promise of it. */
type RpcMethods<Rpc> = {
  readonly [Method in keyof Rpc]: Rpc[Method] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result | Awaited<Result> | Promise<Awaited<Result>>
    : never;
};

/** The client's side of `Rpc`: each method returns a promise. */
export type RpcClient<Rpc> = {
  readonly [Method in keyof Rpc]: Rpc[Method] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

export interface RpcClientOptions {
  /** How long a call waits for its result. Default: no limit. */
  readonly timeoutMs?: number;
  /** Creates the error of a call that timed out. */
  readonly timeoutError?: () => Error;
}

/**
 * Serves the methods of `Rpc` over `port`. Calls start in order of arrival; results are sent as they become available. If a method
 * throws, the caller gets only the message of the error.
 */
export function serveRpc<Rpc extends RpcInterface<Rpc>>(port: MessagePort, methods: RpcMethods<Rpc>): void {
  port.onmessage = async (event) => {
    const { id, method, args }: CallFrame = event.data;
    try {
      if (!Object.hasOwn(methods, method)) throw new Error(`there is no method ${method}`);
      const call = (methods as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>)[method];
      port.postMessage({ id, result: await call?.(...args) } satisfies ReturnFrame);
    } catch (cause) {
      const fault = cause instanceof Error ? cause.message : String(cause);
      port.postMessage({ id, fault } satisfies ReturnFrame);
    }
  };
}

/**
 * Returns a client of `serveRpc`. It creates its methods when they are accessed, so it cannot be copied with a spread.
 *
 * @throws Error from its methods, with the message of the error that the server's method threw; `timeoutError` if there is no result in
 * time.
 */
export function connectRpc<Rpc extends RpcInterface<Rpc>>(
  port: MessagePort,
  { timeoutMs, timeoutError = () => new Error("no response in time") }: RpcClientOptions = {},
): RpcClient<Rpc> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let nextId = 1;
  port.onmessage = (event) => {
    const frame: ReturnFrame = event.data;
    const call = waiting.get(frame.id);
    waiting.delete(frame.id);
    if ("fault" in frame) call?.reject(new Error(frame.fault));
    else call?.resolve(frame.result);
  };

  const send = (method: string, args: readonly unknown[]): Promise<unknown> => {
    const id = nextId++;
    const call = Promise.withResolvers<unknown>();
    waiting.set(id, call);
    port.postMessage({ id, method, args } satisfies CallFrame);
    if (timeoutMs === undefined) return call.promise;
    const timer = setTimeout(() => {
      waiting.delete(id);
      call.reject(timeoutError());
    }, timeoutMs);
    return call.promise.finally(() => clearTimeout(timer));
  };

  const methods: Record<string, (...args: readonly unknown[]) => Promise<unknown>> = Object.create(null);
  return new Proxy(methods, {
    get(_, method) {
      // A client is not a promise, but `await` looks for this method.
      if (typeof method !== "string" || method === "then") return undefined;
      methods[method] ??= (...args) => send(method, args);
      return methods[method];
    },
  }) as RpcClient<Rpc>;
}
