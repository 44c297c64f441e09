import { decodeUtf8, parseJson } from "../../lib/json.ts";
import type { TokenOutcome } from "../store/campaigns/notification-ledger.ts";

/** A client's result for one token of a batch. */
export interface ClientOutcome extends TokenOutcome {
  /** Whether the client will reject this token from now on. */
  readonly isGone: boolean;
}

/** A client's response to a batch: lists of tokens, with unvalidated entries. */
export interface ClientResponse {
  readonly successful: readonly unknown[];
  readonly invalid: readonly unknown[];
  readonly rateLimited: readonly unknown[];
  readonly failed: readonly unknown[];
}

const LISTS = ["successfulTokens", "invalidTokens", "rateLimitedTokens", "failedTokens"] as const;

/** Reasons of `failedTokens` in the protocol; other text of a client is not used as a counter name. */
const FAILED_REASONS = new Set(["domain_mismatch", "target_url_mismatch", "no_webhook_url", "unknown"]);

/** The tokens of a call. */
export interface SentTokens {
  readonly tokens: readonly string[];
  /** Their JSON in the request body. */
  readonly json: string;
}

/** Replaces the tokens of a call in its response. Clients cannot predict it. */
const SENT_MARK = `sent ${crypto.randomUUID()}`;

/**
 * Parses the body of a 2xx response: the lists, at the top level or under `result`. Some lists may be missing, but not
 * all. Returns undefined for anything else. A list that repeats the tokens of the call is `sent.tokens` itself.
 */
export function parseClientResponse(body: Uint8Array, sent: SentTokens): ClientResponse | undefined {
  const text = decodeUtf8(body);
  if (text === undefined) return undefined;
  const whole = parseJson(withoutSent(text, sent));
  const lists = isObject(whole) && isObject(whole.result) ? whole.result : whole;
  if (!isObject(lists) || !LISTS.some((name) => Object.hasOwn(lists, name))) return undefined;
  const [successful, invalid, rateLimited, failed] = LISTS.map((name) =>
    lists[name] === SENT_MARK ? sent.tokens : (lists[name] ?? []),
  );
  if (!Array.isArray(successful) || !Array.isArray(invalid)) return undefined;
  if (!Array.isArray(rateLimited) || !Array.isArray(failed)) return undefined;
  return { successful, invalid, rateLimited, failed };
}

/**
 * Replaces a copy of the call's tokens by a mark: the usual response repeats all of them, and parsing them again costs more than the rest
 * of the response. The JSON of a list of texts contains bare quotes, so it cannot occur inside a text.
 */
function withoutSent(text: string, { json }: SentTokens): string {
  const at = text.indexOf(json);
  return at === -1 ? text : `${text.slice(0, at)}"${SENT_MARK}"${text.slice(at + json.length)}`;
}

const SUCCESS: ClientOutcome = { kind: "success", reason: "", isRetryable: false, isGone: false };

/**
 * Returns the result of each token in a response. A token in several lists is counted once, by the first of:
 * successful, invalid, rate limited, failed.
 */
export function tokenOutcomes(tokens: readonly string[], response: ClientResponse): readonly ClientOutcome[] {
  if (isFullSuccess(tokens, response)) return new Array<ClientOutcome>(tokens.length).fill(SUCCESS);
  const successful = new Set(response.successful);
  const invalid = new Set(response.invalid);
  const rateLimited = new Set(response.rateLimited);
  const failed = new Map(
    response.failed
      .filter(isObject)
      // Not `String(reason)`, because an object from JSON may have a `toString` that is not a function.
      .map(({ token, reason }) => [token, typeof reason === "string" ? reason : ""]),
  );
  return tokens.map((token) => {
    const failedReason = failed.get(token);
    const isGone = invalid.has(token) || failedReason === "invalid_token";
    if (successful.has(token)) return { ...SUCCESS, isGone };
    if (isGone) return failure("invalid_token", { isGone });
    if (rateLimited.has(token)) return failure("rate_limited", { isRetryable: true });
    if (failedReason === undefined) return failure("missing_from_response");
    return failure(FAILED_REASONS.has(failedReason) ? `failed_${failedReason}` : "failed_other");
  });
}

/** Detects the usual response, which repeats all tokens in order, without looking up each. */
function isFullSuccess(tokens: readonly string[], response: ClientResponse): boolean {
  const { successful, invalid, failed } = response;
  if (invalid.length > 0 || failed.length > 0 || successful.length !== tokens.length) return false;
  return successful === tokens || tokens.every((token, at) => token === successful[at]);
}

/** Creates the result of a token that failed. */
export function failure(
  reason: string,
  { isRetryable = false, isGone = false }: Partial<ClientOutcome> = {},
): ClientOutcome {
  return { kind: "failure", reason, isRetryable, isGone };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
