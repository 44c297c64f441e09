import { retryAfterMs } from "../../net/backoff.ts";
import type { OutboundClient, OutboundErrorKind } from "../../net/client.ts";
import type { Clock } from "../../runtime/clock.ts";
import { callEnd, calledHost } from "../../runtime/trace/call-span.ts";
import type { Spans } from "../../runtime/trace/span.ts";
import type { Notification } from "../store/campaigns/campaign-store.ts";
import type { HostStatus } from "./circuit-breaker.ts";
import { type ClientResponse, parseClientResponse } from "./client-response.ts";

/** Longest delay that a client can request by Retry-After. */
const MAX_RETRY_AFTER_MS = 10_000;

/** Outcome of one call to a client. */
export type BatchOutcome =
  | { readonly kind: "response"; readonly response: ClientResponse }
  | {
      readonly kind: "failed";
      /** Error class, one of a bounded set. */
      readonly reason: string;
      /** Whether another attempt may succeed. */
      readonly isRetryable: boolean;
      /** Status of the host as this call observed it. */
      readonly hostStatus: HostStatus;
      /** Delay that the client requested (Retry-After); 0 without one. */
      readonly waitMs: number;
    }
  | { readonly kind: "cancelled" };

export interface BatchCall {
  readonly url: string;
  readonly notification: Notification;
  readonly tokens: readonly string[];
  readonly signal: AbortSignal;
}

export type PostBatch = (call: BatchCall) => Promise<BatchOutcome>;

/** Errors of a call by kind, and whether another attempt may succeed. */
const FAILURES: Readonly<
  Record<
    Exclude<OutboundErrorKind, "cancelled">,
    { reason: string; isRetryable: boolean; hostStatus: HostStatus }
  >
> = {
  refused: { reason: "refused_url", isRetryable: false, hostStatus: "none" },
  dns: { reason: "dns", isRetryable: true, hostStatus: "down" },
  connect: { reason: "connect", isRetryable: true, hostStatus: "down" },
  tls: { reason: "tls", isRetryable: true, hostStatus: "down" },
  timeout: { reason: "timeout", isRetryable: true, hostStatus: "down" },
  reset: { reason: "reset", isRetryable: true, hostStatus: "down" },
  malformed: { reason: "malformed_http", isRetryable: true, hostStatus: "down" },
  "too-large": { reason: "response_too_large", isRetryable: false, hostStatus: "none" },
  redirect: { reason: "redirect", isRetryable: false, hostStatus: "none" },
};

/** Why a call may have no response. */
export const FAILURE_REASONS: readonly string[] = Object.values(FAILURES).map(({ reason }) => reason);

/** Returns the request body that the protocol defines. */
export function clientRequestBody(notification: Notification, tokensJson: string): string {
  const { notificationId, title, body, targetUrl } = notification;
  return `${JSON.stringify({ notificationId, title, body, targetUrl }).slice(0, -1)},"tokens":${tokensJson}}`;
}

/** Creates the function that posts a batch to a client. It never throws because of what a client does. */
export function createPostBatch(deps: {
  readonly client: OutboundClient;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly spans?: Pick<Spans, "active"> | undefined;
}): PostBatch {
  const { client, clock, userAgent, spans } = deps;
  return async ({ url, notification, tokens, signal }) => {
    const span = spans?.active()?.child({
      name: "post notifications",
      kind: "client",
      attributes: { ...calledHost(url), "svc.tokens": tokens.length },
    });
    const json = JSON.stringify(tokens);
    const outcome = await client.request({
      url,
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": userAgent },
      body: clientRequestBody(notification, json),
      timeoutMs: deps.timeoutMs,
      signal,
    });
    span?.end(callEnd(outcome));
    if (!outcome.ok) {
      const { kind } = outcome.error;
      if (kind === "cancelled") return { kind: "cancelled" };
      return { kind: "failed", ...FAILURES[kind], waitMs: 0 };
    }
    const { status, headers, body, truncated } = outcome.value;
    if (status <= 299) {
      if (truncated) return permanentFailure("response_too_large");
      const response = parseClientResponse(body, { tokens, json });
      return response === undefined ? permanentFailure("malformed_response") : { kind: "response", response };
    }
    const reason = `http_${status}`;
    if (status !== 429 && status < 500) return permanentFailure(reason);
    const waitMs = retryAfterMs(headers.get("retry-after"), clock.nowMs(), MAX_RETRY_AFTER_MS);
    return {
      kind: "failed",
      reason,
      isRetryable: true,
      hostStatus: status === 429 ? "busy" : "down",
      waitMs,
    };
  };
}

/** A failure that a retry would repeat: the client responded. */
function permanentFailure(reason: string): BatchOutcome {
  return { kind: "failed", reason, isRetryable: false, hostStatus: "ok", waitMs: 0 };
}
