import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

const NAMES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/** Runs `body` while every proxy variable of the environment is set to `proxy`, without exceptions. */
export async function withProxy(proxy: string, body: () => Promise<void>): Promise<void> {
  const before = [...NAMES, "NO_PROXY", "no_proxy"].map((name) => [name, process.env[name]] as const);
  for (const name of NAMES) process.env[name] = proxy;
  delete process.env.NO_PROXY;
  delete process.env.no_proxy;
  try {
    await body();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

export interface ConnectProxy extends AsyncDisposable {
  readonly port: number;
  /** The targets that it was asked to connect to, and the credentials. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[];
}

/**
 * An HTTP proxy on a loopback port that tunnels, as its operator's.
 *
 * @param instead where it connects to instead, by the target that it is asked for.
 */
export async function startConnectProxy(
  instead: Readonly<Record<string, string>> = {},
): Promise<ConnectProxy> {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on("connect", (request, client: Duplex) => {
    const target = request.url ?? "";
    asked.push({ target, authorization: request.headers["proxy-authorization"] });
    const place = instead[target] ?? target;
    const at = place.lastIndexOf(":");
    const upstream = connect(Number(place.slice(at + 1)), place.slice(0, at), () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [upstream, client]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
