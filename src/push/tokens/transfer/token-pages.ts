import { RetryableError, UserError } from "../../../lib/failure.ts";
import { parseJsonBytes } from "../../../lib/json.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { exponentialBackoffMs } from "../../../net/backoff.ts";
import type { OutboundClient, OutboundResponse, OutboundResult } from "../../../net/client.ts";

/** The list of an app's tokens at another service. */
export interface TokenPages {
  readonly client: OutboundClient;
  readonly url: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
  /** Resolves after `ms`; rejects if the signal aborts earlier. */
  readonly wait: (ms: number) => Promise<unknown>;
}

const PAGE_TOKENS = "100";
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const CALL_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 5;
const INITIAL_BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 60_000;

/**
 * Yields the tokens that a service lists in pages; each page is fetched after the previous one was consumed.
 *
 * @throws UserError for a response that is not such a page, RetryableError when the service does not respond; tokens
 *   before the fault are valid.
 */
export async function* tokensOfPages(pages: TokenPages): AsyncGenerator<unknown> {
  let cursor = "";
  for (;;) {
    const page = await fetchPage(pages, cursor);
    yield* page.tokens;
    if (page.cursor === "") return;
    if (page.cursor === cursor) throw new UserError("the service returns the same page again and again");
    cursor = page.cursor;
  }
}

async function fetchPage(pages: TokenPages, cursor: string) {
  const url = new URL(pages.url);
  if (!url.searchParams.has("limit")) url.searchParams.set("limit", PAGE_TOKENS);
  if (cursor !== "") url.searchParams.set("cursor", cursor);
  for (let attempt = 1; ; attempt++) {
    const result = await pages.client.request({
      method: "GET",
      url: url.href,
      headers: { "x-api-key": pages.apiKey, accept: "application/json" },
      timeoutMs: CALL_TIMEOUT_MS,
      maxResponseBytes: MAX_PAGE_BYTES,
      signal: pages.signal,
    });
    pages.signal.throwIfAborted();
    const fault = faultOf(result);
    if (result.ok && fault === undefined) return readPage(result.value);
    if (fault?.isRetryable === false)
      throw new UserError(`the list of tokens cannot be fetched: ${fault.reason}`);
    if (attempt === MAX_ATTEMPTS) {
      throw new RetryableError(`the list of tokens could not be fetched: ${fault?.reason}`);
    }
    await pages.wait(
      Math.min(
        fault?.waitMs ?? exponentialBackoffMs(INITIAL_BACKOFF_MS, attempt, MAX_BACKOFF_MS),
        MAX_BACKOFF_MS,
      ),
    );
  }
}

/** Returns why a response is a failure and whether a retry may succeed; undefined for a success. */
function faultOf(result: OutboundResult) {
  if (!result.ok) {
    const { kind, message } = result.error;
    return { reason: message, isRetryable: kind !== "refused" && kind !== "redirect" };
  }
  const { status, headers } = result.value;
  if (status < 300) return undefined;
  const waitSecs = /^\d{1,6}$/.exec(headers.get("retry-after") ?? "")?.[0];
  return {
    reason: `status ${status}`,
    isRetryable: status === 408 || status === 429 || status >= 500,
    ...(waitSecs === undefined ? {} : { waitMs: Number(waitSecs) * 1000 }),
  };
}

function readPage({ body, truncated }: OutboundResponse): { tokens: readonly unknown[]; cursor: string } {
  const page = truncated ? undefined : readObject(parseJsonBytes(body), "page");
  if (!page?.ok) throw notAPage();
  const tokens = ownValue(page.value, "notification_tokens");
  if (!Array.isArray(tokens)) throw notAPage();
  const next = readObject(ownValue(page.value, "next") ?? {}, "next");
  const cursor = next.ok ? (ownValue(next.value, "cursor") ?? "") : undefined;
  if (typeof cursor !== "string") throw notAPage();
  return { tokens, cursor };
}

function notAPage(): UserError {
  return new UserError("the response is not a page of notification tokens");
}
