import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { Rejection, RejectionCode } from "../protocol/rejection.ts";

/** The gRPC status of each refusal; the exact code travels in the `x-err-code` trailer. */
const STATUS: Record<RejectionCode, status> = {
  "bad_request.parse_failure": status.INVALID_ARGUMENT,
  "bad_request.validation_failure": status.INVALID_ARGUMENT,
  "bad_request.invalid_param": status.INVALID_ARGUMENT,
  "bad_request.duplicate": status.INVALID_ARGUMENT,
  "bad_request.conflict": status.INVALID_ARGUMENT,
  "bad_request.prunable": status.INVALID_ARGUMENT,
  unavailable: status.UNAVAILABLE,
};

/** The error with which a call answers a refusal. */
export function toServiceError(rejection: Rejection): ServiceError {
  return serviceError(STATUS[rejection.code], rejection.code, rejection.reason);
}

/** The error of a caller that may not use a method. */
export function permissionDenied(reason: string): ServiceError {
  return serviceError(status.PERMISSION_DENIED, "unauthorized", reason);
}

/** The error of a fault of the node: its cause stays in the log. */
export function internalFault(): ServiceError {
  return serviceError(status.INTERNAL, "internal_error", "internal error");
}

function serviceError(code: status, errCode: string, details: string): ServiceError {
  const metadata = new Metadata();
  metadata.set("x-err-code", errCode);
  // Trailers are ASCII; a reason quotes names of fields, never text of the caller, but a header must not break.
  return Object.assign(new Error(details), {
    code,
    details: details.replace(/[^\x20-\x7e]/g, "?"),
    metadata,
  });
}
