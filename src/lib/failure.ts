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

/** The words of a caught fault, for a message that goes on with them. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
