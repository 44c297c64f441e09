import { CONFLICT_CODE, type SubmitResult } from "./network.ts";
import type { WriteErrorCode, WriteRefusal } from "./outcome.ts";

export const NO_SIGNERS = refusal(501, "not_implemented", "managed signers need signers.encryption_key");

const RATE_LIMIT_SECS = 60;
const RETRY_SECS = 5;
/** If the index is at its limit, there is room again only after the operator has made some. */
const FULL_SECS = 60;

/** Validation messages, of this node and of the reference node, that have a code of their own. */
const BY_REASON: readonly (readonly [pattern: RegExp, code: WriteErrorCode])[] = [
  [
    /not an active key|(missing|unknown|invalid) signer|signer (is )?(not|unknown|invalid|missing)/i,
    "signer_not_approved",
  ],
  [/scope/i, "out_of_scope"],
  [/\bpro\b/i, "needs_pro"],
];

/** A contract's signature or a name that cannot be verified without an RPC of its chain. */
const NO_RPC_REASON = /\bhas no (Ethereum )?RPC\b/;

/** Returns the response to a message that was permanently refused. */
export function refusalOf(
  result: Extract<SubmitResult, { kind: "refused" | "login_refused" }>,
): WriteRefusal {
  if (result.kind === "login_refused")
    return refusal(502, "upstream_refused", "the followed node refuses the login of this node");
  const { code, reason } = result;
  switch (code) {
    case CONFLICT_CODE:
      return refusal(409, "conflict", reason);
    case "bad_request.prunable":
      return refusal(403, "no_storage", reason);
    case "bad_request.rate_limited":
      return refusal(429, "rate_limited", reason, RATE_LIMIT_SECS);
    case "resource_exhausted":
      return refusal(503, "unavailable", reason, FULL_SECS);
    case "unavailable":
      return NO_RPC_REASON.test(reason) ? NO_RPC : refusal(503, "unavailable", reason, RETRY_SECS);
    default: {
      const known = BY_REASON.find(([pattern]) => pattern.test(reason));
      return known ? refusal(403, known[1], reason) : refusal(400, "invalid_message", reason);
    }
  }
}

export function refusal(
  status: number,
  code: WriteErrorCode,
  message: string,
  retryAfterSecs?: number,
): WriteRefusal {
  return { status, code, message, ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }) };
}

export const UPSTREAM_AWAY = refusal(
  503,
  "upstream_unavailable",
  "the followed node cannot be reached; nothing was stored",
  RETRY_SECS,
);
export const STATE_AWAY = refusal(
  503,
  "unavailable",
  "the state store does not respond; try again",
  RETRY_SECS,
);
export const PAUSED = refusal(503, "unavailable", "writes are paused by the operator", 60);
export const QUEUE_FULL = refusal(503, "unavailable", "the write queue is full; try again", RETRY_SECS);
export const TOO_MANY = refusal(503, "unavailable", "too many writes are under way; try again", RETRY_SECS);
export const TOO_MANY_OF_OWNER = refusal(
  429,
  "rate_limited",
  "too many writes of this owner are under way; try again",
  RETRY_SECS,
);
export const TOO_MANY_OF_FID = refusal(
  503,
  "unavailable",
  "too many writes of this user wait for each other; try again",
  1,
);
export const STOPPING = refusal(503, "unavailable", "the node is stopping", RETRY_SECS);
export const IN_PROGRESS = refusal(
  409,
  "in_progress",
  "a request with this idempotency key is still under way",
  1,
);
export const OTHER_BODY = refusal(
  409,
  "idempotency_conflict",
  "this idempotency key was used with another body",
);
export const TOO_FAR_AHEAD = refusal(
  409,
  "conflict",
  "the user has a message for this whose time is more than five minutes ahead",
);
export const NOT_MERGED = refusal(
  409,
  "not_merged",
  "not_merged: the network has accepted the message and not merged it within 100 blocks",
);
export const SETTINGS_CHANGED = refusal(
  409,
  "conflict",
  "the settings of the channel have changed meanwhile, or another change is under way; try again",
);
export const NO_RPC = refusal(
  501,
  "not_implemented",
  "the message needs a check on a chain that this node has no RPC for",
);
export const FAILED = refusal(500, "internal", "internal error");
