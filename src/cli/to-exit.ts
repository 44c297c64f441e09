import { CommanderError } from "commander";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { StateUnavailable } from "../db/state/unavailable.ts";
import {
  EXIT_OK,
  EXIT_RETRYABLE,
  EXIT_USER,
  isTransient,
  RetryableError,
  UserError,
} from "../lib/failure.ts";

/** The exit code of a failed command, and its message on standard error. */
export interface Exit {
  readonly exitCode: number;
  readonly message: string;
}

/** System error codes that a retry does not fix. */
const USER_CODES = new Set(["EACCES", "EPERM", "EROFS", "EADDRNOTAVAIL", "ENOENT", "EISDIR", "ENOTDIR"]);

/** Returns the exit code and the message of an error. Only an unexpected error shows its stack. */
export function toExit(fault: unknown): Exit {
  if (fault instanceof CommanderError) {
    // The parser has already written its message; help and version are "errors" with code 0.
    return { exitCode: fault.exitCode === 0 ? EXIT_OK : EXIT_USER, message: "" };
  }
  if (fault instanceof UserError) return { exitCode: EXIT_USER, message: `error: ${fault.message}\n` };
  if (fault instanceof RetryableError)
    return { exitCode: EXIT_RETRYABLE, message: `error: ${fault.message}\n` };
  if (fault instanceof StateUnavailable) {
    return { exitCode: EXIT_RETRYABLE, message: `error: the state does not respond: ${fault.message}\n` };
  }
  if (fault instanceof StorageError && fault.fault !== "other") {
    const exitCode = isTransient(fault) ? EXIT_RETRYABLE : EXIT_USER;
    return { exitCode, message: `error: ${fault.message}.\n` };
  }
  if (!(fault instanceof Error)) return { exitCode: EXIT_RETRYABLE, message: `error: ${String(fault)}\n` };
  const code = "code" in fault ? String(fault.code) : "";
  if (USER_CODES.has(code)) return { exitCode: EXIT_USER, message: `error: ${fault.message}\n` };
  if (isTransient(fault)) return { exitCode: EXIT_RETRYABLE, message: `error: ${fault.message}\n` };
  return { exitCode: EXIT_RETRYABLE, message: `internal error: ${fault.stack ?? fault.message}\n` };
}
