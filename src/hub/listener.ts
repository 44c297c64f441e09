import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Descriptors } from "../runtime/process.ts";

/** The gRPC port. */
export interface HubListener {
  readonly port: number;
  /** Accepts no more connections. */
  close(): void;
}

/**
 * Listens for gRPC connections. This file loads nothing else, so that what serves them can be loaded with the first
 * connection.
 *
 * @param options.accept receives each connection, paused. Its fault ends the thread.
 * @param options.descriptors descriptors of the process; while it has none to spare, new connections are closed. Default: no
 * limit.
 */
export function listenForHub(
  { host, port }: { readonly host: string; readonly port: number },
  options: {
    readonly accept: (socket: Socket) => void | Promise<void>;
    readonly descriptors?: Descriptors | undefined;
  },
): Promise<HubListener> {
  const { accept, descriptors } = options;
  const server = createServer({ noDelay: true, pauseOnConnect: true }, async (socket) => {
    // A client may reset the connection before it is served.
    socket.on("error", () => undefined);
    if (descriptors && descriptors.open() >= descriptors.cap) return void socket.destroy();
    await accept(socket);
  });
  return new Promise((resolve, reject) => {
    server.on("error", (cause) =>
      reject(new Error(`gRPC cannot listen on ${host} port ${port}: ${cause.message}`)),
    );
    server.listen({ host, port }, () =>
      resolve({ port: (server.address() as AddressInfo).port, close: () => void server.close() }),
    );
  });
}
