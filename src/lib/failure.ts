/**
 * A fault that the operator has to mend (a bad setting, a missing file): trying again changes nothing. Its message is
 * shown as it is, without a stack. The process exits with 1.
 */
export class UserError extends Error {
  override name = "UserError";
}

/** A fault that may be gone on the next try (a port or directory still in use). The process exits with 75. */
export class RetryableError extends Error {
  override name = "RetryableError";
}
