import { retryAfterMs } from "../../net/backoff.ts";
import type { OutboundErrorKind, OutboundResult } from "../../net/client.ts";
import type { Settlement, Verdict } from "../store/delivery-queue.ts";
import { MAX_RETRY_AFTER_MS, type RetryPolicy, retryDelayMs } from "./schedule.ts";

/** Bytes of a response that are stored for the webhook's owner. */
export const MAX_LOGGED_RESPONSE_BYTES = 2048;

/** Statuses after which the delivery is retried, in addition to every 5xx. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);
const GONE = 410;

/** Error classes that owners see, by the kind of the outbound error. */
const ERROR_CLASSES = {
  refused: "refused_url",
  dns: "dns",
  connect: "connect",
  tls: "tls",
  timeout: "timeout",
  reset: "reset",
  malformed: "malformed_http",
  "too-large": "response_too_large",
  redirect: "redirect",
  cancelled: "cancelled",
} as const satisfies Record<OutboundErrorKind, string>;

/** The error classes of calls without a response. */
export const ERROR_RESPONSES: readonly string[] = Object.values(ERROR_CLASSES);

const decoder = new TextDecoder();

/** The attempt that an outcome belongs to. */
export interface AttemptContext {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly policy: RetryPolicy;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: number;
}

/**
 * Classifies the outcome of a call.
 *
 * 2xx: delivered. 410: the webhook is deactivated. Transient statuses, calls without a response and redirects: retried according to the
 * policy. Any other response: failed, without a retry.
 */
export function classifyOutcome(
  outcome: OutboundResult,
  { attempt, startedAtMs, policy, random }: AttemptContext,
): Omit<Settlement, "delivery"> {
  const durationMs = Math.round((outcome.ok ? outcome.value : outcome.error).durationMs);
  const nowMs = startedAtMs + durationMs;
  const retry = (retryAfter: number): Verdict => {
    const waitMs = retryDelayMs(policy, attempt, retryAfter, random);
    return waitMs === undefined ? { kind: "failed" } : { kind: "retry", dueAtMs: nowMs + waitMs };
  };
  if (!outcome.ok) {
    const logged = {
      atMs: startedAtMs,
      status: null,
      error: ERROR_CLASSES[outcome.error.kind],
      durationMs,
      responseText: "",
    };
    return { attempt: logged, verdict: retry(0), holdUntilMs: null };
  }
  const { status, headers, body } = outcome.value;
  const responseText = decoder.decode(body.subarray(0, MAX_LOGGED_RESPONSE_BYTES));
  const logged = { atMs: startedAtMs, status, error: null, durationMs, responseText };
  if (status <= 299) return { attempt: logged, verdict: { kind: "delivered" }, holdUntilMs: null };
  if (status === GONE) return { attempt: logged, verdict: { kind: "gone" }, holdUntilMs: null };
  if (status < 500 && !TRANSIENT_STATUSES.has(status))
    return { attempt: logged, verdict: { kind: "failed" }, holdUntilMs: null };
  const requestedMs = retryAfterMs(headers.get("retry-after"), nowMs, MAX_RETRY_AFTER_MS);
  return {
    attempt: logged,
    verdict: retry(requestedMs),
    holdUntilMs: requestedMs > 0 ? nowMs + requestedMs : null,
  };
}
