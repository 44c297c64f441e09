import { OWN_HOST, type OwnTarget } from "../../net/own-target.ts";

/** A listener on a loopback port, for calls of this node alone. */
export interface OwnListener {
  readonly target: OwnTarget;
  /** The URL of one segment. */
  urlOf(segment: string): string;
  stop(): Promise<void>;
}

const BROWSER_HEADERS = ["origin", "sec-fetch-site", "sec-fetch-mode"];

/**
 * Listens on the wanted port, or on a free one where it is taken.
 *
 * @param receive takes a POST for one segment behind the prefix.
 */
export function startOwnListener(options: {
  /** 0 for a free one. */
  readonly wantedPort: number;
  readonly pathPrefix: string;
  readonly maxBodyBytes: number;
  readonly receive: (segment: string, request: Request) => Promise<Response>;
}): OwnListener {
  const { wantedPort, pathPrefix, maxBodyBytes, receive } = options;
  const serve = (port: number) =>
    Bun.serve({
      hostname: OWN_HOST,
      port,
      development: false,
      maxRequestBodySize: maxBodyBytes,
      // Longer than a sender waits for a slow answer.
      idleTimeout: 120,
      async fetch(request) {
        const { pathname } = new URL(request.url);
        if (request.method !== "POST" || !pathname.startsWith(pathPrefix))
          return new Response("not found", { status: 404 });
        // A page of another origin may send a POST to this machine without asking; the node itself sends none of these.
        if (BROWSER_HEADERS.some((name) => request.headers.has(name)))
          return new Response("not for browsers", { status: 403 });
        return receive(pathname.slice(pathPrefix.length), request);
      },
      error: () => new Response("fault", { status: 500 }),
    });
  const server = serveWanted(serve, wantedPort);
  const origin = `http://${OWN_HOST}:${server.port}`;
  return {
    target: { origin, pathPrefix },
    urlOf: (segment) => `${origin}${pathPrefix}${segment}`,
    stop: () => server.stop(true),
  };
}

function serveWanted<Server>(serve: (port: number) => Server, wantedPort: number): Server {
  try {
    return serve(wantedPort);
  } catch (cause) {
    if (wantedPort === 0) throw cause;
    return serve(0);
  }
}
