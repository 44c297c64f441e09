import { GenerationCache } from "../lib/generation-cache.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { CheckedAddress, UrlGuard } from "./guard.ts";
import { INFLATED_ENCODINGS, inflateUpTo } from "./inflate.ts";
import { STRICT_TLS } from "./operator-fetch.ts";
import { readUpTo } from "./read-up-to.ts";

const DEFAULT_MAX_RESPONSE_BYTES = 64 * 1024;
/** How many addresses of a name are tried before its host counts as down. */
const MAX_TRIED_ADDRESSES = 3;
const IDLE_TIMEOUT_SECS = 30;
const MAX_IDLE_SOCKETS = 256;
/** Maximum number of hosts whose plain connections are kept open. */
const MAX_PLAIN_HOSTS = 256;

export interface OutboundCall {
  readonly url: string;
  /** The key under which DNS lookups are limited, such as `fid:3`. */
  readonly requester?: string;
  readonly method: "GET" | "HEAD" | "POST";
  /** The client sets `host` and `accept-encoding` itself. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** For the whole call: DNS, connection, request and the whole response. */
  readonly timeoutMs: number;
  /** The body is truncated after this many bytes; may depend on the head of the response. Default: 64 KB. */
  readonly maxResponseBytes?: number | ((head: ResponseHead) => number);
  /** Allows the server to compress the body, which is inflated to at most this many bytes. Default: no compression. */
  readonly maxInflatedBytes?: number;
  /** Cancels the call, for example at shutdown. */
  readonly signal?: AbortSignal;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: Headers;
}

export interface OutboundResponse {
  /** 200 to 299 or 400 to 599. */
  readonly status: number;
  readonly headers: Headers;
  /** The bytes up to the limit: as sent, or inflated if the call allows that. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether the body was longer than the limit. */
  readonly truncated: boolean;
  readonly durationMs: number;
}

/**
 * - `refused`: the guard rejects the URL;
 * - `dns`: the name has no address;
 * - `connect`: the connection was not accepted;
 * - `tls`: no TLS, or a certificate that is not valid for the name;
 * - `timeout`: the deadline passed at any stage;
 * - `cancelled`: the caller's signal;
 * - `reset`: the connection closed before the response was complete;
 * - `malformed`: not a valid HTTP/1.1 response;
 * - `too-large`: the response headers are too large;
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

/** A call without a response. `message` contains no address and may be shown to the URL's owner. */
export interface OutboundError {
  readonly kind: OutboundErrorKind;
  readonly message: string;
  readonly durationMs: number;
  /** For `redirect`: its target, unchecked. A caller that follows it makes another call, which the guard checks. */
  readonly redirect?: { readonly status: number; readonly location: string };
}

export type OutboundResult = Result<OutboundResponse, OutboundError>;

export type OutboundClient = ReturnType<typeof createOutboundClient>;

export interface OutboundClientOptions {
  readonly guard: UrlGuard;
  /** Certificate authorities (PEM) that replace the built-in ones, for tests. */
  readonly ca?: string;
  /** The operator's HTTP proxy, which connects to the checked address. Default: none. */
  readonly proxyUrl?: string;
}

const FAILURE_MESSAGES = {
  connect: "the connection was not accepted",
  tls: "the TLS handshake failed or the certificate is not valid for the host",
  timeout: "no complete response in time",
  cancelled: "the call was cancelled",
  reset: "the connection closed before the response was complete",
  malformed: "the response is not valid HTTP",
  "too-large": "the head of the response is too large",
  redirect: "the response is a redirect, which is not followed",
} as const satisfies Partial<Record<OutboundErrorKind, string>>;

/**
 * Creates the client for all calls to URLs of third parties.
 *
 * It ignores proxies from the environment and follows no redirects: both would connect to an unchecked address. Connections are reused
 * only for the same name and address, so a call goes to the address that was checked for it, and a receiver that shares an address with
 * another one cannot write a response on the other's connection.
 */
export function createOutboundClient({ guard, ca, proxyUrl }: OutboundClientOptions) {
  const createSession = () =>
    new Bun.FetchSession({
      proxy: proxyUrl ?? false,
      keepAlive: { idleTimeout: IDLE_TIMEOUT_SECS, maxIdleSockets: MAX_IDLE_SOCKETS },
    });
  // Bun ties a TLS connection to its server name, but a plain one only to its address. Idle connections of an evicted session close after
  // the idle timeout.
  const tlsSession = createSession();
  const plainSessions = new GenerationCache<string, Bun.FetchSession>(MAX_PLAIN_HOSTS);
  const targets = new WeakMap<URL, Target>();

  function plainSessionOf(host: string): Bun.FetchSession {
    const known = plainSessions.get(host);
    if (known) return known;
    const session = createSession();
    plainSessions.set(host, session);
    return session;
  }

  /** Returns how to call a checked address. The last result for each URL is cached, because parsing costs as much as a signature. */
  function targetOf(url: URL, { address, family }: CheckedAddress): Target {
    const known = targets.get(url);
    if (known?.address === address) return known;
    const { host, hostname, protocol } = url;
    const checked = new URL(url);
    checked.hostname = family === 6 ? `[${address}]` : address;
    // A certificate for an address is verified without a server name (RFC 6066 3).
    const serverName = checked.hostname === hostname ? undefined : hostname;
    const tls = protocol === "https:" ? { ...STRICT_TLS, serverName, ca } : undefined;
    const target = { address, href: checked.href, host, tls };
    targets.set(url, target);
    return target;
  }

  async function attempt(call: OutboundCall, signal: AbortSignal): Promise<Reply | FailureKindAndMessage> {
    const checked = await guard.check(call.url, call.requester);
    if (!checked.ok) {
      const { kind, reason } = checked.error;
      // One message for both kinds, so that it reveals nothing about internal names.
      return { kind: kind === "dns" ? "dns" : "refused", message: `the URL ${reason}` };
    }
    signal.throwIfAborted();
    const { url, addresses } = checked.value;
    let kind: keyof typeof FAILURE_MESSAGES = "connect";
    for (let tried = 0; tried < Math.min(addresses.length, MAX_TRIED_ADDRESSES); tried++) {
      try {
        return await exchange(call, targetOf(url, addresses[tried] as CheckedAddress), signal);
      } catch (cause) {
        kind = kindOf(cause);
        // The next address is tried only if nothing has been sent yet.
        if (kind !== "connect") break;
      }
    }
    return failure(kind);
  }

  async function exchange(
    call: OutboundCall,
    { href, host, tls }: Target,
    signal: AbortSignal,
  ): Promise<Reply | FailureKindAndMessage> {
    const session = tls ? tlsSession : plainSessionOf(host);
    const options = {
      method: call.method,
      headers: {
        ...call.headers,
        "accept-encoding": call.maxInflatedBytes === undefined ? "identity" : INFLATED_ENCODINGS,
        host,
      },
      body: call.body,
      redirect: "manual",
      decompress: false,
      signal,
    } as const;
    const response = await session.fetch(href, tls ? { ...options, tls, protocol: "http1.1" } : options);
    if (response.status >= 300 && response.status <= 399) {
      await response.body?.cancel();
      const location = response.headers.get("location") ?? "";
      return { ...failure("redirect"), redirect: { status: response.status, location } };
    }
    if (response.status < 200 || response.status > 599) {
      await response.body?.cancel();
      return failure("malformed");
    }
    const { status, headers } = response;
    const { maxResponseBytes: limit = DEFAULT_MAX_RESPONSE_BYTES, maxInflatedBytes } = call;
    const sent = await readUpTo(response, typeof limit === "number" ? limit : limit({ status, headers }));
    if (maxInflatedBytes === undefined) return { status, headers, ...sent };
    const inflated = await inflateUpTo(sent.body, headers.get("content-encoding"), maxInflatedBytes);
    if (!inflated) return failure("malformed");
    return { status, headers, body: inflated.body, truncated: sent.truncated || inflated.truncated };
  }

  return {
    /**
     * Checks the URL again and calls exactly the address that was checked, with the name in `Host` and in TLS.
     *
     * @throws TypeError for invalid headers.
     */
    request(call: OutboundCall): Promise<OutboundResult> {
      const startedAt = performance.now();
      return new Promise((resolve, reject) => {
        const ended = new AbortController();
        const release = () => {
          clearTimeout(timer);
          call.signal?.removeEventListener("abort", cancel);
        };
        const settle = (outcome: Reply | FailureKindAndMessage) => {
          release();
          const durationMs = performance.now() - startedAt;
          if ("kind" in outcome) resolve(err({ ...outcome, durationMs }));
          else resolve(ok({ ...outcome, durationMs }));
        };
        // Settles before the abort, so that the outcome is the actual cause.
        const end = (kind: "timeout" | "cancelled") => {
          settle(failure(kind));
          ended.abort();
        };
        const cancel = () => end("cancelled");
        const timer = setTimeout(() => end("timeout"), call.timeoutMs);
        call.signal?.addEventListener("abort", cancel);
        if (call.signal?.aborted) cancel();
        attempt(call, ended.signal).then(settle, (cause) => {
          release();
          reject(cause);
        });
      });
    },
  };
}

/** A checked address of a URL. */
interface Target {
  readonly address: string;
  /** The URL with the address instead of the name. */
  readonly href: string;
  /** The name and the port. */
  readonly host: string;
  /** Undefined for plain HTTP. */
  readonly tls: (typeof STRICT_TLS & { serverName: string | undefined; ca: string | undefined }) | undefined;
}

type Reply = Omit<OutboundResponse, "durationMs">;

type FailureKindAndMessage = Omit<OutboundError, "durationMs">;

function failure(kind: keyof typeof FAILURE_MESSAGES): FailureKindAndMessage {
  return { kind, message: FAILURE_MESSAGES[kind] };
}

const CONNECT_CODES = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ETIMEDOUT"]);
const TLS_CODE =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT|CRL|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HOSTNAME|INVALID_(CA|PURPOSE)|PATH_LENGTH|ERROR_IN_)/;

/** Classifies an error by its `code`, which is all that Bun provides. */
function kindOf(cause: unknown): keyof typeof FAILURE_MESSAGES {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (CONNECT_CODES.has(code)) return "connect";
  if (TLS_CODE.test(code)) return "tls";
  if (code === "ECONNRESET" || code === "EPIPE") return "reset";
  if (code === "ResponseHeadersTooLarge") return "too-large";
  if (code !== "") return "malformed";
  throw cause;
}
