import type { OutcomeKind } from "./store/campaigns.ts";

/** What a client made of one token of a batch. */
export interface TokenOutcome {
  readonly kind: Exclude<OutcomeKind, "not_attempted">;
  /** One of a few words; empty for a success. */
  readonly reason: string;
  /** The client takes the same notification for this token later. */
  readonly isRetryable: boolean;
  /** The client never takes anything for this token again. */
  readonly isGone: boolean;
}

/** A client's answer to a batch: the lists in which it names tokens, of whatever values. */
export interface ClientResponse {
  readonly successful: readonly unknown[];
  readonly invalid: readonly unknown[];
  readonly rateLimited: readonly unknown[];
  readonly failed: readonly unknown[];
}

const LISTS = ["successfulTokens", "invalidTokens", "rateLimitedTokens", "failedTokens"] as const;

/** The reasons of `failedTokens` that the protocol has; a client's own words do not become names of counters. */
const FAILED_REASONS = new Set(["domain_mismatch", "target_url_mismatch", "no_webhook_url", "unknown"]);

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the body of a 2xx answer: the lists, bare or under `result`. A list may be missing, not all of them. Undefined
 * for anything else.
 */
export function parseClientResponse(body: Uint8Array): ClientResponse | undefined {
  const whole = parseJson(body);
  const lists = isObject(whole) && isObject(whole.result) ? whole.result : whole;
  if (!isObject(lists) || !LISTS.some((name) => Object.hasOwn(lists, name))) return undefined;
  const [successful, invalid, rateLimited, failed] = LISTS.map((name) => lists[name] ?? []);
  if (!Array.isArray(successful) || !Array.isArray(invalid)) return undefined;
  if (!Array.isArray(rateLimited) || !Array.isArray(failed)) return undefined;
  return { successful, invalid, rateLimited, failed };
}

const SUCCESS: TokenOutcome = { kind: "success", reason: "", isRetryable: false, isGone: false };

/**
 * What an answer says of each of some tokens. A token that stands in several lists is counted once, by the first of:
 * successful, invalid, rate limited, failed.
 */
export function tokenOutcomes(tokens: readonly string[], answer: ClientResponse): readonly TokenOutcome[] {
  if (isAllServed(tokens, answer)) return tokens.map(() => SUCCESS);
  const successful = new Set(answer.successful);
  const invalid = new Set(answer.invalid);
  const rateLimited = new Set(answer.rateLimited);
  const failed = new Map(
    answer.failed
      .filter(isObject)
      // Not `String(reason)`: an object from JSON may have a `toString` that is no function.
      .map(({ token, reason }) => [token, typeof reason === "string" ? reason : ""]),
  );
  return tokens.map((token) => {
    const failedReason = failed.get(token);
    const isGone = invalid.has(token) || failedReason === "invalid_token";
    if (successful.has(token)) return { ...SUCCESS, isGone };
    if (isGone) return failure("invalid_token", { isGone });
    if (rateLimited.has(token)) return failure("rate_limited", { isRetryable: true });
    if (failedReason === undefined) return failure("not_in_answer");
    return failure(FAILED_REASONS.has(failedReason) ? `failed_${failedReason}` : "failed_other");
  });
}

/** The usual answer repeats what it was given, which is seen without looking each token up. */
function isAllServed(tokens: readonly string[], answer: ClientResponse): boolean {
  const { successful, invalid, failed } = answer;
  if (invalid.length > 0 || failed.length > 0 || successful.length !== tokens.length) return false;
  return tokens.every((token, at) => token === successful[at]);
}

/** The verdict on every token of a batch that got no answer. */
export function failure(
  reason: string,
  { isRetryable = false, isGone = false }: Partial<TokenOutcome> = {},
): TokenOutcome {
  return { kind: "failure", reason, isRetryable, isGone };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
