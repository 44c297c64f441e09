import type { Shortage } from "../admission/budget.ts";
import { RETRY_AFTER_SECS, refusalText } from "../admission/budgets.ts";
import { ApiError } from "./errors.ts";

/** The refusal of a request for which a budget has no room: 429 for the share of its client, 503 for the total. */
export function noRoom(unit: string, shortage: Shortage): ApiError {
  const isOwn = shortage === "client";
  return new ApiError(isOwn ? "tooManyRequests" : "unavailable", refusalText(unit, shortage), {
    retryAfterSecs: RETRY_AFTER_SECS,
    ...(isOwn ? { code: "client_share" } : {}),
  });
}
