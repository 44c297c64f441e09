/** The command did what it was asked for. */
export const EXIT_OK = 0;
/** The operator has to change something; a supervisor should not try again. */
export const EXIT_USER = 1;
/** It may work on the next try (sysexits' EX_TEMPFAIL): something is in use, or an unforeseen fault came up. */
export const EXIT_RETRYABLE = 75;

/**
 * A fault that the operator has to mend (a bad setting, a missing file): trying again changes nothing. Its message is
 * shown as it is, without a stack. The process exits with `EXIT_USER`.
 */
export class UserError extends Error {
  override name = "UserError";
}

/** A fault that may be gone on the next try (a port or directory still in use). The process exits with `EXIT_RETRYABLE`. */
export class RetryableError extends Error {
  override name = "RetryableError";
}

/** Codes of the system that say that something is taken, full or failing at the moment. */
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

/** Whether a fault of the system or of SQLite, by its `code`, may be gone on the next try. */
export function isTransient(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  const code = String(cause.code);
  return TRANSIENT_CODES.has(code) || TRANSIENT_SQLITE_CODE.test(code);
}

/** The words of a caught fault, for a message that goes on with them. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
