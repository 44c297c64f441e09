import { ElysiaCustomStatusResponse, NotFoundError, ParseError, ValidationError } from "elysia";
import type { Shortage } from "../../admission/budget.ts";
import { RETRY_AFTER_SECS, refusalText } from "../../admission/budgets.ts";
import { StorageError } from "../../db/sqlite/storage-error.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { ApiError, type ErrorName, errorKinds } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { describeValidationError } from "./validation-message.ts";

const nameByStatus = new Map(
  Object.entries(errorKinds).map(([name, kind]): [number, ErrorName] => [kind.status, name as ErrorName]),
);

/** For a call that was not sent to the state. */
const STATE_AWAY = "the state store does not respond; try again";
const STORES_NOTHING = "the node cannot store anything now, which its operator can see: ";
const CANNOT_READ = "the node cannot read its data now, which its operator can see";
const STATE_BUSY = "the request could not be stored in time: it may or may not have been carried out";

/**
 * Elysia wraps errors thrown by a parse hook. A client that disconnects in the middle of a body causes an AbortError.
 */
function unwrapParseError({ cause }: ParseError): ApiError {
  if (cause instanceof Error && cause.name === "AbortError") {
    return new ApiError("badRequest", "the request body ended early", { cause });
  }
  return cause instanceof ParseError ? new ApiError("internal", undefined, { cause }) : toApiError(cause);
}

/** Maps a thrown value to the error that the client receives. Only errors meant for the client keep their text. */
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
  if (error instanceof StateUnavailable) return new ApiError("unavailable", stateMessage(error));
  if (error instanceof StorageError && error.fault !== "other")
    return new ApiError("unavailable", CANNOT_READ, { cause: error });
  return new ApiError("internal", undefined, { cause: error });
}

function stateMessage({ isStorageFault, mayHaveHappened }: StateUnavailable): string {
  if (!isStorageFault) return mayHaveHappened ? STATE_BUSY : STATE_AWAY;
  return `${STORES_NOTHING}the request was ${mayHaveHappened ? "probably " : ""}not carried out`;
}

/** Returns the response for a thrown value. The cause of a fault is logged with the request id and never sent. */
export function errorResponse(options: { exchange: Exchange; error: unknown; log: Logger }): Response {
  const { exchange, log } = options;
  const error = toApiError(options.error);
  const kind = errorKinds[error.kind];
  const isFault = error.kind === "internal" || (kind.status >= 500 && error.cause !== undefined);
  if (isFault) {
    const { requestId, method, route } = exchange;
    log.error({ err: error.cause ?? error, requestId, method, route }, "Request failed");
  }
  // An error may be temporary; without this header, caches may store a 404 by their own rules.
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "cache-control": "no-store",
  };
  if (error.retryAfterSecs !== undefined) headers["retry-after"] = String(error.retryAfterSecs);
  if (error.code !== undefined) headers["x-error-code"] = error.code;
  if (error.allow !== undefined) headers.allow = error.allow;
  if (error.scheme !== undefined) headers["www-authenticate"] = error.scheme;
  const body = JSON.stringify(exchange.policy.errorBody(error.message, error.kind, error.code));
  return new Response(body, { status: kind.status, headers });
}

/** The refusal of a request for which a budget has no room: 429 for the share of its client, 503 for the total. */
export function noRoom(unit: string, shortage: Shortage): ApiError {
  const isOwn = shortage === "client";
  return new ApiError(isOwn ? "tooManyRequests" : "unavailable", refusalText(unit, shortage), {
    retryAfterSecs: RETRY_AFTER_SECS,
    ...(isOwn ? { code: "client_share" } : {}),
  });
}
