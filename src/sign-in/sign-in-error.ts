import { ApiError, type ErrorName } from "../http/errors.ts";
import type { SignInRefusal } from "./verify-message.ts";

const RETRY_AFTER_SECS = { unavailable: 5, limited: 60 } as const;

/**
 * Returns the error for a refused message: of the given kind or, if the refusal does not depend on the message, one that asks the client
 * to retry.
 */
export function signInError(
  { reason, message, cause }: Pick<SignInRefusal, "reason" | "message" | "cause">,
  kind: ErrorName,
): ApiError {
  if (cause === undefined) return new ApiError(kind, message, { code: reason });
  return new ApiError(cause === "limited" ? "tooManyRequests" : "unavailable", message, {
    code: reason,
    retryAfterSecs: RETRY_AFTER_SECS[cause],
  });
}
