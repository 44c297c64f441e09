import { type Err, err } from "../../lib/result.ts";

/** The code of a refused read. gRPC clients receive it in the `x-err-code` trailer, HTTP clients as `errCode`. */
export type RefusalCode =
  | "not_found"
  | "bad_request"
  | "bad_request.invalid_param"
  | "bad_request.events_pruned"
  | "rate_limited"
  | "unavailable"
  | "unimplemented";

/** The gRPC status of each refusal. */
export const GRPC_STATUS = {
  "bad_request.invalid_param": 3,
  not_found: 5,
  rate_limited: 8,
  // The read needs an fid that the node does not follow.
  bad_request: 9,
  "bad_request.events_pruned": 11,
  unimplemented: 12,
  unavailable: 14,
} as const satisfies Record<RefusalCode, number>;

/** Why a read is refused. */
export interface Refusal {
  readonly code: RefusalCode;
  /** For developers; part of the interface. */
  readonly reason: string;
}

/** Returns a refused result. */
export function refuse(code: RefusalCode, reason: string): Err<Refusal> {
  return err({ code, reason });
}

export const notFound = (what: string): Err<Refusal> => refuse("not_found", `${what} not found`);
export const invalidParam = (reason: string): Err<Refusal> => refuse("bad_request.invalid_param", reason);

/** Returned while a node that follows an upstream fills its index for the first time. */
export const BEING_FILLED: Refusal = { code: "unavailable", reason: "the index is being filled" };
