import { setTimeout as delay } from "node:timers/promises";
import { RetryableError, reasonOf, UserError } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import { exponentialBackoffMs, withJitter } from "../backoff.ts";
import { readUpTo } from "../read-up-to.ts";

/** How calls to a remote store are retried. */
export interface RetryPolicy {
  /** Consecutive failures after which a call gives up. */
  readonly maxFailures: number;
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /** How long to wait for a response, and for each further piece of its body, ms. */
  readonly stallMs: number;
}

export const RETRIES: RetryPolicy = {
  maxFailures: 8,
  initialDelayMs: 500,
  maxDelayMs: 30_000,
  stallMs: 60_000,
};

const MAX_ERROR_BYTES = 16 * 1024;
const MAX_REASON_CHARS = 300;

/**
 * Retries an attempt that fails because of the network or the server, with growing delays.
 *
 * @param label names the place in errors.
 * @throws UserError if the attempt does; RetryableError after too many failures; the reason of `signal` if it aborts.
 */
export async function retrying<T>(
  label: string,
  attempt: () => Promise<T>,
  { policy, signal }: { readonly policy: RetryPolicy; readonly signal: AbortSignal },
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (cause) {
      await waitAfter(label, cause, failures, { policy, signal });
    }
  }
}

/** Waits before the next attempt. @throws like `retrying` if there is none. */
export async function waitAfter(
  label: string,
  cause: unknown,
  failures: number,
  { policy, signal }: { readonly policy: RetryPolicy; readonly signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  if (cause instanceof UserError) throw cause;
  if (failures >= policy.maxFailures)
    throw new RetryableError(
      `${label}: ${printable(reasonOf(cause)).slice(0, MAX_REASON_CHARS)}, after ${failures} attempts`,
      { cause },
    );
  const delayMs = exponentialBackoffMs(policy.initialDelayMs, failures, policy.maxDelayMs);
  try {
    await delay(withJitter(delayMs, Math.random()), undefined, { signal });
  } catch {
    signal.throwIfAborted();
  }
}

/**
 * Returns a successful response. A store describes its errors in XML.
 *
 * @throws UserError if a retry would fail again; Error if it may succeed.
 */
export async function requireSuccess(label: string, response: Response): Promise<Response> {
  if (response.ok) return response;
  const { body } = await readUpTo(response, MAX_ERROR_BYTES);
  const text = new TextDecoder().decode(body);
  const code = /<Code>([\w.]{1,100})<\/Code>/.exec(text)?.[1];
  const message = /<Message>([^<]{1,500})<\/Message>/.exec(text)?.[1];
  const said = [`HTTP ${response.status}`, code, message].filter((part) => part !== undefined).join(", ");
  const reason = printable(said).slice(0, MAX_REASON_CHARS);
  const isTemporary =
    response.status >= 500 || response.status === 429 || response.status === 408 || code === "RequestTimeout";
  if (isTemporary) throw new Error(reason);
  throw new UserError(`${label}: ${reason}`);
}
