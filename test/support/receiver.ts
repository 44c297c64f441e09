import type { Credentials } from "./certificates.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** The caller's port, which identifies its connection. */
  readonly fromPort: number;
}

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
}

export interface ReceiverOptions {
  /** With it, the receiver accepts only TLS. */
  readonly tls?: Credentials;
  readonly hostname?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly respond?: (request: ReceivedRequest) => Response | Promise<Response>;
}

/** A recording HTTP(S) server on a loopback port; it returns 200 and "ok" by default. */
export function startReceiver(options: ReceiverOptions = {}): Receiver {
  const requests: ReceivedRequest[] = [];
  const server = Bun.serve({
    hostname: options.hostname ?? "127.0.0.1",
    port: options.port ?? 0,
    tls: options.tls && { cert: options.tls.cert, key: options.tls.key },
    async fetch(request, self) {
      const received = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: await request.text(),
        fromPort: self.requestIP(request)?.port ?? 0,
      };
      requests.push(received);
      return (await options.respond?.(received)) ?? new Response("ok");
    },
  });
  return {
    port: server.port ?? 0,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

export interface RawReceiver extends AsyncDisposable {
  readonly port: number;
  /** The number of connections made to it. */
  readonly connections: number;
  /** Resolves once a caller's connection is closed. */
  readonly hungUp: Promise<void>;
}

/** A TCP server on a loopback port for behaviour that no HTTP server has: `onRequest` gets the bare connection. */
export function startRawReceiver(
  onRequest: (socket: Bun.Socket, bytes: Buffer) => void,
  at: { hostname: string; port: number } = { hostname: "127.0.0.1", port: 0 },
): RawReceiver {
  let connections = 0;
  const hungUp = Promise.withResolvers<void>();
  const listener = Bun.listen({
    ...at,
    socket: {
      open() {
        connections += 1;
      },
      data: (socket, bytes) => onRequest(socket, bytes),
      close: () => hungUp.resolve(),
      error: () => hungUp.resolve(),
    },
  });
  return {
    port: listener.port,
    get connections() {
      return connections;
    },
    hungUp: hungUp.promise,
    async [Symbol.asyncDispose]() {
      listener.stop(true);
    },
  };
}
