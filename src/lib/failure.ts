/** The command succeeded. */
export const EXIT_OK = 0;
/** The operator must change something. A supervisor should not retry. */
export const EXIT_USER = 1;
/** A retry may succeed (EX_TEMPFAIL of sysexits): a resource is in use, or an unexpected error occurred. */
export const EXIT_RETRYABLE = 75;

/**
 * An error that the operator must fix, such as an invalid setting or a missing file. A retry does not help. Its message is
 * shown unchanged, without a stack. The process exits with `EXIT_USER`.
 */
export class UserError extends Error {
  override name = "UserError";
}

/** An error that a retry may resolve, such as a port or directory in use. The process exits with `EXIT_RETRYABLE`. */
export class RetryableError extends Error {
  override name = "RetryableError";
}

/** A RetryableError that changing settings cannot fix: another process has what this one needs, or the server of the state is down. */
export class BusyError extends RetryableError {}

/** System error codes for resources that are in use, exhausted or temporarily failing. */
const TRANSIENT_CODES = new Set([
  "EADDRINUSE",
  "EAGAIN",
  "EBUSY",
  "EDQUOT",
  "EIO",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "ENOSPC",
]);
const TRANSIENT_SQLITE_CODE = /^SQLITE_(BUSY|LOCKED|PROTOCOL|NOMEM|IOERR|FULL|NOLFS)(_|$)/;

/** Reports whether a retry may resolve an error of the system or of SQLite, by its `code`. */
export function isTransient(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  const code = String(cause.code);
  return TRANSIENT_CODES.has(code) || TRANSIENT_SQLITE_CODE.test(code);
}

/** Returns the message of a caught error, to append to another message. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
