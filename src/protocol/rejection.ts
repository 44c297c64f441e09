/**
 * Why the node refuses an input. `code` is sent to gRPC clients in the `x-err-code` trailer. `reason` is for people
 * and contains nothing but the offending field and its rule.
 */
export type RejectionCode =
  | "bad_request.parse_failure"
  | "bad_request.validation_failure"
  | "bad_request.invalid_param"
  | "bad_request.duplicate"
  | "bad_request.conflict"
  | "bad_request.prunable"
  | "unavailable";

export class Rejection {
  constructor(
    readonly code: RejectionCode,
    readonly reason: string,
  ) {}
}

/** The refusal of a message that breaks a rule of its type. */
export function invalid(reason: string): Rejection {
  return new Rejection("bad_request.validation_failure", reason);
}

/** The refusal of a message that was merged before. It is a success for a sender that tries again. */
export const DUPLICATE = new Rejection("bad_request.duplicate", "message is already merged");
