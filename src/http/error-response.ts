import { ElysiaCustomStatusResponse, NotFoundError, ParseError, ValidationError } from "elysia";
import { StateUnavailable } from "../db/state/unavailable.ts";
import type { Logger } from "../runtime/logger.ts";
import { ApiError, type ErrorName, errorKinds } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { describeValidationError } from "./validation-message.ts";

const nameByStatus = new Map(
  Object.entries(errorKinds).map(([name, kind]): [number, ErrorName] => [kind.status, name as ErrorName]),
);

const STATE_BUSY = "the request could not be stored in time: it may or may not have been carried out";
const STATE_RETRY = { retryAfterSecs: 5 };

/** Elysia wraps what a parse hook throws; a client that hangs up in mid-body shows as an AbortError. */
function unwrapParseError(error: ParseError): ApiError {
  const { cause } = error;
  if (cause instanceof ApiError) return cause;
  if (cause instanceof Error && cause.name === "AbortError") {
    return new ApiError("badRequest", "the request body ended early", { cause });
  }
  return new ApiError("internal", undefined, { cause });
}

/** What a thrown value is to the client. Only what was made for the client's eyes keeps its text. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof NotFoundError) return new ApiError("notFound", "unknown route");
  if (error instanceof ParseError) return unwrapParseError(error);
  if (error instanceof ValidationError) return new ApiError("badRequest", describeValidationError(error));
  if (error instanceof ElysiaCustomStatusResponse) {
    const text: unknown = error.response;
    return new ApiError(
      nameByStatus.get(error.code) ?? "internal",
      typeof text === "string" ? text : undefined,
    );
  }
  if (error instanceof StateUnavailable) return new ApiError("unavailable", STATE_BUSY, STATE_RETRY);
  return new ApiError("internal", undefined, { cause: error });
}

/** The answer to anything that was thrown. The cause of a fault is logged here, beside the request id, and stays here. */
export function errorResponse(options: { exchange: Exchange; error: unknown; log: Logger }): Response {
  const { exchange, log } = options;
  const error = toApiError(options.error);
  const kind = errorKinds[error.kind];
  const isFault = error.kind === "internal" || (kind.status >= 500 && error.cause !== undefined);
  if (isFault) {
    const { requestId, method, route } = exchange;
    log.error({ err: error.cause ?? error, requestId, method, route }, "Failed a request");
  }
  // An error may pass with the next request; without this, caches may keep a 404 as they please.
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
  };
  if (error.retryAfterSecs !== undefined) headers["retry-after"] = String(error.retryAfterSecs);
  if ("closesConnection" in kind) headers.connection = "close";
  const body = JSON.stringify(exchange.policy.errorBody(error.message));
  return new Response(body, { status: kind.status, headers });
}
