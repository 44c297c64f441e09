import type { CheckedAddress, UrlGuard } from "./guard.ts";
import { UrlRefusal } from "./guard.ts";
import { STRICT_TLS } from "./strict-tls.ts";

const MAX_ANSWER_BYTES = 64 * 1024;
/** Of a name's addresses, how many are tried before its host counts as down. */
const MAX_TRIED_ADDRESSES = 3;
const IDLE_TIMEOUT_SECS = 30;
const MAX_IDLE_SOCKETS = 256;

export interface OutboundCall {
  readonly url: string;
  /** Whose look-ups of names are bounded together with the one for this call. */
  readonly requester?: string;
  readonly method: "GET" | "POST";
  /** `host` and `accept-encoding` are set here. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Over everything: the name, the connection, the request and the answer to its last byte. */
  readonly timeoutMs: number;
  /** The body is cut after so many bytes; 64 KB when left out. */
  readonly maxResponseBytes?: number;
  /** Gives the call up, as at shutdown. */
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  /** 200 to 299 or 400 to 599. */
  readonly status: number;
  readonly headers: Headers;
  /** As it came over the wire, without decompression, up to the limit. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether there was more than the limit. */
  readonly truncated: boolean;
  readonly durationMs: number;
}

/**
 * - `refused`: the guard does not let the URL pass;
 * - `dns`: the name has no address;
 * - `connect`: nobody took the connection;
 * - `tls`: no TLS, or a certificate that does not vouch for the name;
 * - `timeout`: the deadline passed, at whatever stage;
 * - `cancelled`: the caller's signal;
 * - `reset`: the connection ended before the answer did;
 * - `malformed`: what came back is no HTTP/1.1 answer;
 * - `too-large`: the head of the answer never ends;
 * - `redirect`: a 3xx, which is never followed.
 */
export type OutboundErrorKind =
  | "refused"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "cancelled"
  | "reset"
  | "malformed"
  | "too-large"
  | "redirect";

/** A call that brought no answer. `message` holds no address and may be shown to the URL's owner. */
export class OutboundError {
  constructor(
    readonly kind: OutboundErrorKind,
    readonly message: string,
    readonly durationMs: number,
  ) {}
}

export interface OutboundClient {
  /**
   * Judges the URL anew and calls the very address that was judged, with the name in `Host` and in TLS.
   *
   * @throws TypeError for headers that are none.
   */
  request(call: OutboundCall): Promise<OutboundResponse | OutboundError>;
}

export interface OutboundClientOptions {
  readonly guard: UrlGuard;
  /** Certificate authorities (PEM) to trust in place of the built-in ones; for tests. */
  readonly ca?: string;
}

const FAILURE_MESSAGES = {
  connect: "the connection was not accepted",
  tls: "the TLS handshake failed or the certificate is not valid for the host",
  timeout: "no complete answer in time",
  cancelled: "the call was given up",
  reset: "the connection ended before the answer was complete",
  malformed: "the answer is not valid HTTP",
  "too-large": "the head of the answer is too large",
  redirect: "the answer is a redirect, which is not followed",
} as const satisfies Partial<Record<OutboundErrorKind, string>>;

/**
 * The way out for everything that goes to somebody else's URL.
 *
 * Neither proxies of the environment nor redirects are followed, either of which would connect to an address that
 * nobody judged. TLS connections are kept for the next call to the same name and address; plain ones are not kept,
 * since nothing would tie them to one name.
 */
export function createOutboundClient({ guard, ca }: OutboundClientOptions): OutboundClient {
  const session = new Bun.FetchSession({
    proxy: false,
    keepAlive: { idleTimeout: IDLE_TIMEOUT_SECS, maxIdleSockets: MAX_IDLE_SOCKETS },
  });

  async function attempt(call: OutboundCall, signal: AbortSignal): Promise<Reply | FailureKindAndMessage> {
    const headers = new Headers(call.headers);
    headers.set("accept-encoding", "identity");
    const checked = await guard.check(call.url, call.requester);
    if (checked instanceof UrlRefusal) {
      // One message for both: an owner who reads it learns nothing about internal names.
      return { kind: checked.kind === "dns" ? "dns" : "refused", message: `the URL ${checked.reason}` };
    }
    signal.throwIfAborted();
    const tried = checked.addresses.slice(0, MAX_TRIED_ADDRESSES);
    let kind: keyof typeof FAILURE_MESSAGES = "connect";
    for (const address of tried) {
      try {
        return await exchange(call, headers, checked.url, address, signal);
      } catch (cause) {
        kind = kindOf(cause);
        // Only where nothing was sent yet does the next address get the same request.
        if (kind !== "connect") break;
      }
    }
    return failure(kind);
  }

  async function exchange(
    call: OutboundCall,
    headers: Headers,
    url: URL,
    { address, family }: CheckedAddress,
    signal: AbortSignal,
  ): Promise<Reply | FailureKindAndMessage> {
    headers.set("host", url.host);
    const target = new URL(url);
    target.hostname = family === 6 ? `[${address}]` : address;
    const isTls = url.protocol === "https:";
    // A certificate for an address is matched by itself; TLS has no server name for it (RFC 6066 3).
    const serverName = target.hostname === url.hostname ? undefined : url.hostname;
    const response = await session.fetch(target, {
      method: call.method,
      headers,
      body: call.body,
      redirect: "manual",
      decompress: false,
      signal,
      ...(isTls ? { tls: { ...STRICT_TLS, serverName, ca }, protocol: "http1.1" } : { keepalive: false }),
    });
    if (response.status >= 300 && response.status <= 399) {
      await response.body?.cancel();
      return failure("redirect");
    }
    if (response.status < 200 || response.status > 599) {
      await response.body?.cancel();
      return failure("malformed");
    }
    const { body, truncated } = await readUpTo(response, call.maxResponseBytes ?? MAX_ANSWER_BYTES);
    return { status: response.status, headers: response.headers, body, truncated };
  }

  return {
    async request(call) {
      const startedAt = performance.now();
      const ended = new AbortController();
      const late = Promise.withResolvers<FailureKindAndMessage>();
      const end = (kind: "timeout" | "cancelled") => {
        late.resolve(failure(kind));
        ended.abort();
      };
      const cancel = () => end("cancelled");
      const timer = setTimeout(() => end("timeout"), call.timeoutMs);
      call.signal?.addEventListener("abort", cancel);
      if (call.signal?.aborted) cancel();
      try {
        // `late` settles before the abort does, so that it tells which of the two it was.
        const outcome = await Promise.race([late.promise, attempt(call, ended.signal)]);
        const durationMs = performance.now() - startedAt;
        return "kind" in outcome
          ? new OutboundError(outcome.kind, outcome.message, durationMs)
          : { ...outcome, durationMs };
      } finally {
        clearTimeout(timer);
        call.signal?.removeEventListener("abort", cancel);
      }
    },
  };
}

type Reply = Omit<OutboundResponse, "durationMs">;

interface FailureKindAndMessage {
  readonly kind: OutboundErrorKind;
  readonly message: string;
}

function failure(kind: keyof typeof FAILURE_MESSAGES): FailureKindAndMessage {
  return { kind, message: FAILURE_MESSAGES[kind] };
}

async function readUpTo(response: Response, maxBytes: number) {
  const { headers } = response;
  // One that says its length is no longer than that, and costs far less to read in one piece.
  if (!headers.has("transfer-encoding") && Number(headers.get("content-length") ?? Infinity) <= maxBytes) {
    return { body: new Uint8Array(await response.arrayBuffer()), truncated: false };
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream, which closes the connection.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  const body = new Uint8Array(Bun.concatArrayBuffers(chunks, maxBytes, false));
  return { body, truncated: length > maxBytes };
}

const CONNECT_CODES = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ETIMEDOUT"]);
const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT|CRL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HOSTNAME|INVALID_(CA|PURPOSE)|PATH_LENGTH|ERROR_IN_)/;

/** Bun tells what went wrong by the `code` of the error alone. */
function kindOf(cause: unknown): keyof typeof FAILURE_MESSAGES {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (CONNECT_CODES.has(code)) return "connect";
  if (TLS_CODE.test(code)) return "tls";
  if (code === "ECONNRESET" || code === "EPIPE") return "reset";
  if (code === "ResponseHeadersTooLarge") return "too-large";
  if (code !== "") return "malformed";
  throw cause;
}
