import { signal } from "@preact/signals";
import * as msg from "../text/en/common.ts";
import { language } from "../text/locale.ts";
import type { Call } from "./call.ts";

/** An API key that the visitor has pasted; in memory only. Needed by a node with `http.anonymous = false`. */
export const apiKey = signal<string | undefined>(undefined);

/** Whether the node has refused a read without a key (`http.anonymous = false`). */
export const isApiKeyWanted = signal(false);

/** A request failed. Status 0: the node did not respond. */
export class RequestFailure extends Error {
  override readonly name = "RequestFailure";
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** How long the node asks to wait before a retry. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: {
    status: number;
    message: string;
    code?: string | undefined;
    requestId?: string | undefined;
    retryAfterMs?: number | undefined;
  }) {
    super(failure.message);
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** Returns the text for an error code in the page's language; undefined if the node's message should be used. */
async function textOfCode(code: string | undefined): Promise<string | undefined> {
  if (code === undefined || language === "en") return undefined;
  const texts = await import("../text/en/errors.ts").then(
    ({ ERRORS }) => ERRORS,
    () => undefined,
  );
  return texts && Object.hasOwn(texts, code) ? texts[code] : undefined;
}

/** Reads why the node refused a request. */
export async function readFailure(response: Response): Promise<RequestFailure> {
  const body = (await response.json().catch(() => ({}))) as { message?: unknown };
  const retryAfterSecs = Number(response.headers.get("retry-after") ?? Number.NaN);
  const code = response.headers.get("x-error-code") ?? undefined;
  const message =
    (await textOfCode(code)) ??
    (typeof body.message === "string" ? body.message : msg.theNodeRespondedWith(response.status));
  return new RequestFailure({
    status: response.status,
    message,
    code,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfterMs: Number.isFinite(retryAfterSecs) ? retryAfterSecs * 1000 : undefined,
  });
}

/** How long the node may take to respond. */
export const RESPONSE_LIMIT_MS = 10_000;

export interface NodeCallOptions extends Pick<RequestInit, "method" | "headers" | "body" | "cache"> {
  readonly signal?: AbortSignal | undefined;
  /** For tests. */
  readonly limitMs?: number;
}

/**
 * Calls the node and reads its response; no other part of the page calls it. Each call has a time limit, after which it fails. `read`
 * gets `extend`, with which an endless response extends the limit at each heartbeat.
 *
 * @throws RequestFailure, or the reason of an abort
 */
export async function callNode<T>(
  path: string,
  { signal, limitMs = RESPONSE_LIMIT_MS, ...init }: NodeCallOptions,
  read: (response: Response, extend: (limitMs: number) => void) => T | Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const extend = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      abort.abort();
    }, ms);
  };
  const leave = () => abort.abort(signal?.reason);
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave);
  extend(limitMs);
  try {
    return await read(await fetch(path, { ...init, signal: abort.signal }), extend);
  } catch (cause) {
    if (signal?.aborted || cause instanceof RequestFailure) throw cause;
    throw new RequestFailure({
      status: 0,
      message: !isLate
        ? msg.theNodeCannotBeReached
        : (init.method ?? "GET") === "GET"
          ? msg.theNodeDidNotRespondWithin(limitMs / 1000)
          : msg.theNodeDidNotTryAgain(limitMs / 1000),
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
    // Ends a response that was not read to its end.
    abort.abort();
  }
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The exact bytes of the body, for signed requests. */
  readonly rawBody?: string | undefined;
  /** Called with the response and awaited before its body is read. */
  readonly onResponse?: ((response: Response) => Promise<unknown>) | undefined;
}

/** An API key only helps with calls of the API: a 401 elsewhere is about the operator's code or session, or a channel that has ended. */
const wantsApiKey = ({ op, path }: Call) => op === undefined && path.startsWith("/v2/");

/** Makes the request and returns its decoded body. Throws `RequestFailure`, or the reason of an abort. */
export function request<T>(call: Call<T>, options: RequestOptions = {}): Promise<T> {
  const body = options.rawBody ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (apiKey.value !== undefined) headers["x-api-key"] = apiKey.value;
  const init = {
    method: call.method,
    headers,
    signal: options.signal,
    ...(body === undefined ? {} : { body }),
  };
  return callNode(call.path, init, async (response) => {
    await options.onResponse?.(response);
    if (response.status === 401 && wantsApiKey(call)) isApiKeyWanted.value = true;
    if (!response.ok) throw await readFailure(response);
    if (response.status === 204) return null as T;
    const text = await response.text();
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new RequestFailure({ status: response.status, message: msg.theResponseIsNotComplete });
    }
  });
}
