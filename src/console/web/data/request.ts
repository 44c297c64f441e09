import { signal } from "@preact/signals";
import type { Call } from "./call.ts";

/** An API key that the visitor has pasted; in memory alone. A node with `http.anonymous = false` asks for one. */
export const apiKey = signal<string | undefined>(undefined);

/** Set when the node refuses a read without a key (`http.anonymous = false`). */
export const isApiKeyWanted = signal(false);

/** A request that did not succeed. Status 0: the node did not answer. */
export class RequestFailure extends Error {
  override readonly name = "RequestFailure";
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** How long the node asks to wait before the next try. */
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

/** Reads why the node refused a request. */
export async function readFailure(response: Response): Promise<RequestFailure> {
  const body = (await response.json().catch(() => ({}))) as { message?: unknown };
  const retryAfterSecs = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new RequestFailure({
    status: response.status,
    message: typeof body.message === "string" ? body.message : `the node answered ${response.status}`,
    code: response.headers.get("x-error-code") ?? undefined,
    requestId: response.headers.get("x-request-id") ?? undefined,
    retryAfterMs: Number.isFinite(retryAfterSecs) ? retryAfterSecs * 1000 : undefined,
  });
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body as it goes over the wire, where its exact bytes matter (signed requests). */
  readonly rawBody?: string | undefined;
}

/** What is not of the API is opened by no API key: a 401 there is about the operator's code or session. */
const wantsApiKey = ({ op, path }: Call) => op === undefined && !path.startsWith("/console/");

/** Makes the request and returns its decoded body. Throws `RequestFailure`, or the reason of an abort. */
export async function request<T>(call: Call, options: RequestOptions = {}): Promise<T> {
  const body = options.rawBody ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (apiKey.value !== undefined) headers["x-api-key"] = apiKey.value;
  let response: Response;
  try {
    response = await fetch(call.path, {
      method: call.method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new RequestFailure({ status: 0, message: "the node cannot be reached" });
  }
  if (response.status === 401 && wantsApiKey(call)) isApiKeyWanted.value = true;
  if (!response.ok) throw await readFailure(response);
  try {
    return (await response.json()) as T;
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new RequestFailure({ status: response.status, message: "the response is not complete" });
  }
}
