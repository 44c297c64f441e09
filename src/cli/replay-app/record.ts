import { listenFault } from "../../net/listen-address.ts";
import { createOperatorFetch, noResponseReason } from "../../net/operator-fetch.ts";
import { readUpTo } from "../../net/read-up-to.ts";
import { type RecordedCall, recordedCall } from "./recording.ts";

const HOST = "127.0.0.1";
const IDLE_TIMEOUT_SECS = 120;
const CALL_MS = 60_000;
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Headers that concern the connection or the encoding of the body. */
const NOT_FORWARDED = [
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "upgrade",
  "host",
  "content-length",
  "accept-encoding",
];
const NOT_RETURNED = ["connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"];

export interface Recorder {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Forwards the calls of an app on this machine to the hosted API, with their keys, and reports each with its response. It calls no other
 * host and follows no redirects.
 *
 * @throws RetryableError if the port is in use.
 */
export function startRecorder({
  port,
  upstream,
  report,
}: {
  readonly port: number;
  readonly upstream: URL;
  readonly report: (call: RecordedCall) => void;
}): Recorder {
  const call = createOperatorFetch(upstream.href);

  async function forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const target = new URL(upstream);
    target.pathname = `${upstream.pathname.replace(/\/+$/, "")}${pathname}`;
    target.search = search;
    const headers = new Headers(request.headers);
    for (const name of NOT_FORWARDED) headers.delete(name);
    const hasBody = request.method !== "GET" && request.method !== "HEAD";
    let response: Response;
    try {
      response = await call(target, {
        method: request.method,
        headers,
        signal: AbortSignal.timeout(CALL_MS),
        ...(hasBody && { body: await request.arrayBuffer() }),
      });
    } catch (cause) {
      return Response.json({ message: noResponseReason(target, cause) }, { status: 502 });
    }
    const { body, truncated } = await readUpTo(response, MAX_RESPONSE_BYTES);
    if (truncated) return Response.json({ message: "the response is too long" }, { status: 502 });
    report(
      recordedCall(request.method, { pathname, search }, response.status, new TextDecoder().decode(body)),
    );
    const returned = new Headers(response.headers);
    for (const name of NOT_RETURNED) returned.delete(name);
    const isEmpty = response.status === 204 || response.status === 304;
    return new Response(isEmpty ? null : body, { status: response.status, headers: returned });
  }

  let server: Bun.Server<undefined>;
  try {
    server = Bun.serve({
      hostname: HOST,
      port,
      idleTimeout: IDLE_TIMEOUT_SECS,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      fetch: forward,
    });
  } catch (cause) {
    throw listenFault({ host: HOST, port, setting: "--port" }, cause);
  }
  return { url: `http://${HOST}:${server.port}`, stop: () => server.stop(true) };
}
