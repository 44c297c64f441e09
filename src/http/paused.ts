import { ApiError } from "./errors.ts";

const RETRY_AFTER_SECS = 60;

/** The response while the operator has paused what a request asks for. */
export function pausedByOperator(what: string): ApiError {
  return new ApiError("unavailable", `${what} are paused by the operator`, {
    retryAfterSecs: RETRY_AFTER_SECS,
  });
}
