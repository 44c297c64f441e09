import { OutboundError, type OutboundErrorKind, type OutboundResponse } from "../../net/client.ts";
import { retryAfterMs } from "../../net/retry-after.ts";
import type { Settlement, Verdict } from "../store/deliveries.ts";
import { MAX_RETRY_AFTER_MS, type RetryPolicy, retryDelayMs } from "./schedule.ts";

/** Bytes of an answer that are kept for the webhook's owner. */
export const MAX_LOGGED_RESPONSE_BYTES = 2048;

/** Answers after which another attempt may do better; so may it after every 5xx. */
const TRANSIENT_STATUSES = new Set([408, 425, 429]);
const GONE = 410;

/** Classes of failure, as owners read them, by what the call came to. */
const ERRORS = {
  refused: "refused_url",
  dns: "dns",
  connect: "connect",
  tls: "tls",
  timeout: "timeout",
  reset: "reset",
  malformed: "malformed_http",
  "too-large": "answer_too_large",
  redirect: "redirect",
  cancelled: "cancelled",
} as const satisfies Record<OutboundErrorKind, string>;

const decoder = new TextDecoder();

/** What an attempt was made for. */
export interface AttemptContext {
  /** Which attempt it was, from 1 on. */
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly policy: RetryPolicy;
  /** From 0 to below 1. */
  readonly random: number;
}

/**
 * Judges what came of a call.
 *
 * 2xx is delivered. 410 ends the webhook. What may pass, also a call without an answer and a redirect, is tried again as
 * the policy says. Any other answer is the receiver's last word.
 */
export function classifyOutcome(
  outcome: OutboundResponse | OutboundError,
  { attempt, startedAtMs, policy, random }: AttemptContext,
): Omit<Settlement, "delivery"> {
  const durationMs = Math.round(outcome.durationMs);
  const nowMs = startedAtMs + durationMs;
  const retry = (askedMs: number): Verdict => {
    const waitMs = retryDelayMs(policy, attempt, askedMs, random);
    return waitMs === undefined ? { kind: "failed" } : { kind: "retry", dueAtMs: nowMs + waitMs };
  };
  if (outcome instanceof OutboundError) {
    const logged = { atMs: startedAtMs, status: null, error: ERRORS[outcome.kind], durationMs, answer: "" };
    return { attempt: logged, verdict: retry(0), holdUntilMs: null };
  }
  const { status, headers, body } = outcome;
  const answer = decoder.decode(body.subarray(0, MAX_LOGGED_RESPONSE_BYTES));
  const logged = { atMs: startedAtMs, status, error: null, durationMs, answer };
  if (status <= 299) return { attempt: logged, verdict: { kind: "delivered" }, holdUntilMs: null };
  if (status === GONE) return { attempt: logged, verdict: { kind: "gone" }, holdUntilMs: null };
  if (status < 500 && !TRANSIENT_STATUSES.has(status))
    return { attempt: logged, verdict: { kind: "failed" }, holdUntilMs: null };
  const askedMs = retryAfterMs(headers.get("retry-after"), nowMs, MAX_RETRY_AFTER_MS);
  return { attempt: logged, verdict: retry(askedMs), holdUntilMs: askedMs > 0 ? nowMs + askedMs : null };
}
