import { type OutboundClient, OutboundError, type OutboundErrorKind } from "../net/client.ts";
import { retryAfterMs } from "../net/retry-after.ts";
import type { Clock } from "../runtime/clock.ts";
import type { CallOutcome } from "./circuit-breaker.ts";
import { type ClientResponse, parseClientResponse } from "./client-response.ts";
import type { Notification } from "./store/campaigns.ts";

/** Longest wait that a client can ask for by Retry-After. */
const MAX_RETRY_AFTER_MS = 10_000;

/** What came of one call to a client. */
export type BatchResponse =
  | { readonly kind: "answered"; readonly answer: ClientResponse }
  | {
      readonly kind: "failed";
      /** Class of the error, one of a bounded number of words. */
      readonly reason: string;
      /** Another attempt may do better. */
      readonly isPassing: boolean;
      /** What it tells of the host. */
      readonly sign: CallOutcome;
      /** For how long the client wants to be left alone; 0 where it does not say. */
      readonly waitMs: number;
    }
  | { readonly kind: "cancelled" };

export interface BatchCall {
  readonly url: string;
  readonly notification: Notification;
  readonly tokens: readonly string[];
  readonly signal: AbortSignal;
}

export type PostBatch = (call: BatchCall) => Promise<BatchResponse>;

/** The errors of a call by class, and whether another attempt may do better. */
const FAILURES: Readonly<
  Record<Exclude<OutboundErrorKind, "cancelled">, { reason: string; isPassing: boolean; sign: CallOutcome }>
> = {
  refused: { reason: "refused_url", isPassing: false, sign: "none" },
  dns: { reason: "dns", isPassing: true, sign: "down" },
  connect: { reason: "connect", isPassing: true, sign: "down" },
  tls: { reason: "tls", isPassing: true, sign: "down" },
  timeout: { reason: "timeout", isPassing: true, sign: "down" },
  reset: { reason: "reset", isPassing: true, sign: "down" },
  malformed: { reason: "malformed_http", isPassing: true, sign: "down" },
  "too-large": { reason: "answer_too_large", isPassing: false, sign: "none" },
  redirect: { reason: "redirect", isPassing: false, sign: "none" },
};

/** The body that a client gets, as the protocol has it. */
export function clientRequestBody(notification: Notification, tokens: readonly string[]): string {
  const { notificationId, title, body, targetUrl } = notification;
  return JSON.stringify({ notificationId, title, body, targetUrl, tokens });
}

/** Makes the call that hands a batch to a client. It never throws for what a client does. */
export function createPostBatch(parts: {
  readonly client: OutboundClient;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly userAgent: string;
}): PostBatch {
  const { client, clock, timeoutMs, userAgent } = parts;
  return async ({ url, notification, tokens, signal }) => {
    const outcome = await client.request({
      url,
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": userAgent },
      body: clientRequestBody(notification, tokens),
      timeoutMs,
      signal,
    });
    if (outcome instanceof OutboundError) {
      if (outcome.kind === "cancelled") return { kind: "cancelled" };
      return { kind: "failed", ...FAILURES[outcome.kind], waitMs: 0 };
    }
    const { status, headers, body, truncated } = outcome;
    if (status <= 299) {
      if (truncated) return lasting("answer_too_large");
      const answer = parseClientResponse(body);
      return answer === undefined ? lasting("malformed_answer") : { kind: "answered", answer };
    }
    const reason = `http_${status}`;
    if (status !== 429 && status < 500) return lasting(reason);
    const waitMs = retryAfterMs(headers.get("retry-after"), clock.nowMs(), MAX_RETRY_AFTER_MS);
    return { kind: "failed", reason, isPassing: true, sign: status === 429 ? "busy" : "down", waitMs };
  };
}

/** The client answered, and would answer the same again. */
function lasting(reason: string): BatchResponse {
  return { kind: "failed", reason, isPassing: false, sign: "well", waitMs: 0 };
}
