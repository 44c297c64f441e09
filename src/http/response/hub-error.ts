import type { ErrorName } from "../errors.ts";

/**
 * The body of an error under `/v1`: one for the three kinds of client that read it. Those of Hubble read `errCode` or
 * `metadata`, those of snapchain `error` and `error_detail`.
 *
 * @param code the number of the gRPC status.
 */
export function hubErrorBody(errCode: string, code: number, details: string) {
  return {
    errCode,
    presentable: false,
    name: "HubError",
    code,
    details,
    metadata: { errcode: [errCode] },
    error: details,
    error_detail: details,
    message: details,
  };
}

/** The codes of errors that occur before or after a handler. */
const CODES: Readonly<Record<ErrorName, readonly [errCode: string, code: number]>> = {
  badRequest: ["bad_request.invalid_param", 3],
  unauthorized: ["unauthenticated", 16],
  forbidden: ["unauthorized", 7],
  notFound: ["not_found", 5],
  methodNotAllowed: ["unimplemented", 12],
  conflict: ["bad_request.conflict", 9],
  gone: ["not_found", 5],
  requestTimeout: ["bad_request", 4],
  payloadTooLarge: ["bad_request.invalid_param", 3],
  tooManyRequests: ["rate_limited", 8],
  headersTooLarge: ["bad_request.invalid_param", 3],
  internal: ["internal_error", 13],
  notImplemented: ["unimplemented", 12],
  badGateway: ["unavailable", 14],
  unavailable: ["unavailable", 14],
};

/** The body of an error of the HTTP interface under `/v1`. */
export function hubErrorOf(message: string, kind: ErrorName) {
  const [errCode, code] = CODES[kind];
  return hubErrorBody(errCode, code, message);
}
