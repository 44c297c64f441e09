import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { Shortage } from "../admission/budget.ts";
import { refusalText } from "../admission/budgets.ts";
import type { Rejection, RejectionCode } from "../protocol/rejection.ts";
import { GRPC_STATUS, type Refusal, type RefusalCode } from "../read/hub/refusal.ts";

const MAX_RELAYED_CHARS = 500;
const NOT_FOR_HEADERS = /[^\x20-\x7e]/g;

/** The gRPC status of each refusal. The exact code is in the `x-err-code` trailer. */
const STATUS: Record<RejectionCode | RefusalCode, status> = {
  ...GRPC_STATUS,
  "bad_request.parse_failure": status.INVALID_ARGUMENT,
  "bad_request.validation_failure": status.INVALID_ARGUMENT,
  "bad_request.duplicate": status.INVALID_ARGUMENT,
  "bad_request.conflict": status.INVALID_ARGUMENT,
  "bad_request.prunable": status.INVALID_ARGUMENT,
  resource_exhausted: status.RESOURCE_EXHAUSTED,
};

export function toServiceError({ code, reason }: Rejection | Refusal): ServiceError {
  return serviceError(STATUS[code], code, reason);
}

/** Returns the error of a call for which a budget has no room. */
export function noRoom(unit: string, shortage: Shortage): ServiceError {
  return serviceError(status.RESOURCE_EXHAUSTED, "rate_limited", refusalText(unit, shortage));
}

/** Returns the error for a caller that may not use a method. */
export function permissionDenied(reason: string): ServiceError {
  return serviceError(status.PERMISSION_DENIED, "unauthorized", reason);
}

/** Returns the error for a fault of the node. Its cause is logged, not sent. */
export function internalFault(): ServiceError {
  return serviceError(status.INTERNAL, "internal_error", "internal error");
}

/** Returns the error for a method that a node following an upstream does not offer. */
export function refusedWhileFollowing(reason: string): ServiceError {
  return serviceError(status.FAILED_PRECONDITION, "bad_request", reason);
}

/**
 * Converts an error of a call to the upstream into the error for the caller. An error with a code of the upstream is passed
 * on. Transport errors name addresses, so they are reworded, as are errors about this node's credentials, which do not
 * concern the caller.
 */
export function relayedFault({ code, details, metadata }: ServiceError): ServiceError {
  const errCode = shownText(String(metadata.get("x-err-code")[0] ?? ""));
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED)
    return serviceError(status.UNAVAILABLE, "unavailable", "the upstream refuses this node's credentials");
  if (errCode !== "") return serviceError(code, errCode, shownText(details));
  switch (code) {
    case status.DEADLINE_EXCEEDED:
      return serviceError(
        code,
        "unavailable",
        "the upstream did not respond in time; it may have accepted the message",
      );
    case status.UNAVAILABLE:
    case status.CANCELLED:
      return serviceError(status.UNAVAILABLE, "unavailable", "the upstream cannot be reached; try again");
    default:
      return serviceError(code, "unknown", `the upstream refused the call: ${shownText(details)}`);
  }
}

/** Converts an error of a read that the upstream serves. Its own errors are passed on; transport errors are reworded. */
export function relayedReadFault({ code, details, metadata }: ServiceError): ServiceError {
  switch (code) {
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
    case status.DEADLINE_EXCEEDED:
    case status.UNAVAILABLE:
    case status.CANCELLED:
      return serviceError(status.UNAVAILABLE, "unavailable", "the upstream cannot be reached; try again");
    default:
      return serviceError(
        code,
        shownText(String(metadata.get("x-err-code")[0] ?? "unknown")),
        shownText(details),
      );
  }
}

/** Returns the error for a page of a snapshot that cannot be read, in words that readers parse. */
export function unreadablePage(details: string): ServiceError {
  return serviceError(status.INTERNAL, "internal_error", details);
}

/** Returns text of another node in a form that may be passed on: limited in length, on one line, and valid in a header. */
export function shownText(text: string): string {
  return text.slice(0, MAX_RELAYED_CHARS).replace(NOT_FOR_HEADERS, "?");
}

function serviceError(code: status, errCode: string, details: string): ServiceError {
  const metadata = new Metadata();
  metadata.set("x-err-code", errCode);
  // Trailers are ASCII. A reason contains field names, never text of the caller, but a header must be valid in any case.
  return Object.assign(new Error(details), {
    code,
    details: details.replace(NOT_FOR_HEADERS, "?"),
    metadata,
  });
}
