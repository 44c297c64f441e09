/** Level of a response of this kind in the access log. */
type ErrorLogLevel = "info" | "warn";

interface ErrorKind {
  readonly status: number;
  /** Default message of the response body. */
  readonly message: string;
  readonly logLevel: ErrorLogLevel;
  /** Sent as `retry-after` unless the error has another time. */
  readonly retryAfterSecs?: number;
  /** Whether Bun sends it, without a body, before a request reaches the node. */
  readonly isOfRuntime?: true;
  /** Sent as `x-error-code` unless the error has another code. */
  readonly code?: string;
}

/** Every error response of the HTTP interface. The keys are the stable names used in code and documents. */
export const errorKinds = {
  badRequest: { status: 400, message: "bad request", logLevel: "info" },
  unauthorized: { status: 401, message: "unauthorized", logLevel: "info" },
  forbidden: { status: 403, message: "forbidden", logLevel: "info" },
  notFound: { status: 404, message: "not found", logLevel: "info" },
  methodNotAllowed: { status: 405, message: "method not allowed", logLevel: "info" },
  conflict: { status: 409, message: "conflict", logLevel: "info", code: "conflict" },
  gone: { status: 410, message: "gone", logLevel: "info" },
  requestTimeout: { status: 408, message: "request timeout", logLevel: "info" },
  payloadTooLarge: {
    status: 413,
    message: "request body too large",
    logLevel: "info",
  },
  tooManyRequests: { status: 429, message: "too many requests", logLevel: "info" },
  headersTooLarge: {
    status: 431,
    message: "the URL and the headers of the request are too large; the response has no body",
    logLevel: "info",
    isOfRuntime: true,
  },
  internal: { status: 500, message: "internal error", logLevel: "warn" },
  notImplemented: { status: 501, message: "not implemented", logLevel: "info", code: "not_implemented" },
  badGateway: { status: 502, message: "bad gateway", logLevel: "warn" },
  unavailable: {
    status: 503,
    message: "unavailable",
    logLevel: "warn",
    retryAfterSecs: 5,
    code: "unavailable",
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorName = keyof typeof errorKinds;

const levelByStatus = new Map<number, ErrorLogLevel>(
  Object.values(errorKinds).map((kind) => [kind.status, kind.logLevel]),
);

/** Returns the level of a response's line in the access log. */
export function logLevelOf(status: number): "debug" | ErrorLogLevel {
  return status < 400 ? "debug" : (levelByStatus.get(status) ?? "warn");
}

export interface ApiErrorOptions {
  /** The internal cause. It is logged and never sent. */
  readonly cause?: unknown;
  /** Sent as `retry-after`, whole seconds; null if waiting does not help. Default: that of the kind. */
  readonly retryAfterSecs?: number | null;
  /** A stable name of the cause, sent as `x-error-code`. Default: that of the kind. */
  readonly code?: string;
  /** Sent as `allow`: the methods of the path. */
  readonly allow?: string;
  /** Sent as `www-authenticate`: the scheme of the missing credential. */
  readonly scheme?: "Bearer";
}

/** An error whose message is sent to the client. Any other thrown value is a fault and causes a 500 response. */
export class ApiError extends Error {
  readonly kind: ErrorName;
  readonly retryAfterSecs: number | undefined;
  readonly code: string | undefined;
  readonly allow: string | undefined;
  readonly scheme: string | undefined;

  constructor(kind: ErrorName, message: string = errorKinds[kind].message, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.kind = kind;
    const row: ErrorKind = errorKinds[kind];
    const { retryAfterSecs = row.retryAfterSecs } = options;
    this.retryAfterSecs = retryAfterSecs ?? undefined;
    this.code = options.code ?? row.code;
    this.allow = options.allow;
    this.scheme = options.scheme;
  }

  get status(): number {
    return errorKinds[this.kind].status;
  }
}

const RETRY_AFTER_SECS = 60;

/** The names of operations are public, so the message contains the expected one. */
export function wrongOp(op: string): ApiError {
  return new ApiError("badRequest", `signed op does not match the HTTP method/path, which needs ${op}`);
}

/** Returns the error for a request while the operator has paused what it asks for. */
export function pausedByOperator(what: string): ApiError {
  return new ApiError("unavailable", `${what} are paused by the operator`, {
    retryAfterSecs: RETRY_AFTER_SECS,
  });
}
