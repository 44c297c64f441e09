/** At which level the access log tells of an answer of this kind. */
type ErrorLogLevel = "info" | "warn";

interface ErrorKind {
  readonly status: number;
  /** What the client reads when nothing more exact is said. */
  readonly message: string;
  readonly logLevel: ErrorLogLevel;
  /** The rest of the request is not worth reading, so the connection ends with the answer. */
  readonly closesConnection?: true;
}

/** Every error that the HTTP interface can answer with. The keys are the stable names used in code and documents. */
export const errorKinds = {
  badRequest: { status: 400, message: "bad request", logLevel: "info" },
  unauthorized: { status: 401, message: "unauthorized", logLevel: "info" },
  forbidden: { status: 403, message: "forbidden", logLevel: "info" },
  notFound: { status: 404, message: "not found", logLevel: "info" },
  payloadTooLarge: {
    status: 413,
    message: "request body too large",
    logLevel: "info",
    closesConnection: true,
  },
  tooManyRequests: { status: 429, message: "too many requests", logLevel: "info" },
  internal: { status: 500, message: "internal error", logLevel: "warn" },
  notImplemented: { status: 501, message: "not implemented", logLevel: "info" },
  unavailable: { status: 503, message: "unavailable", logLevel: "warn" },
} as const satisfies Record<string, ErrorKind>;

export type ErrorName = keyof typeof errorKinds;

const levelByStatus = new Map<number, ErrorLogLevel>(
  Object.values(errorKinds).map((kind) => [kind.status, kind.logLevel]),
);

/** The level of an answer's line in the access log. */
export function logLevelOf(status: number): "debug" | ErrorLogLevel {
  return status < 400 ? "debug" : (levelByStatus.get(status) ?? "warn");
}

export interface ApiErrorOptions {
  /** What happened inside. It is logged and never sent. */
  readonly cause?: unknown;
  /** Sent as `retry-after`, whole seconds. */
  readonly retryAfterSecs?: number;
}

/** A refusal whose message the client is meant to read. Anything else that is thrown is a fault and answers 500. */
export class ApiError extends Error {
  readonly kind: ErrorName;
  readonly retryAfterSecs: number | undefined;

  constructor(kind: ErrorName, message: string = errorKinds[kind].message, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.kind = kind;
    this.retryAfterSecs = options.retryAfterSecs;
  }

  get status(): number {
    return errorKinds[this.kind].status;
  }
}
