/** The code of a refusal. gRPC clients receive it in the `x-err-code` trailer. */
export type RejectionCode =
  | "bad_request.parse_failure"
  | "bad_request.validation_failure"
  | "bad_request.invalid_param"
  | "bad_request.duplicate"
  | "bad_request.conflict"
  | "bad_request.prunable"
  | "unavailable"
  /** The index has reached its size limit. */
  | "resource_exhausted";

/** Why the node refuses an input. */
export interface Rejection {
  readonly code: RejectionCode;
  /** For developers. Contains only the offending field and its rule. */
  readonly reason: string;
}

export function rejection(code: RejectionCode, reason: string): Rejection {
  return { code, reason };
}

/** Returns the refusal of a message that breaks a rule of its type. */
export function invalid(reason: string): Rejection {
  return rejection("bad_request.validation_failure", reason);
}

/** Refusal of a message that was merged before. It counts as success for a sender that retries. */
export const DUPLICATE = rejection("bad_request.duplicate", "message is already merged");
