import { ApiError, type ErrorName } from "../../http/errors.ts";
import { err, type Result } from "../../lib/result.ts";

/** Why the operator's part refuses a request. It crosses threads, so it is plain data. */
export interface OperatorRefusal {
  readonly kind: ErrorName;
  readonly message: string;
  readonly retryAfterSecs?: number;
}

export function refuse(kind: ErrorName, message: string, retryAfterSecs?: number) {
  return err<OperatorRefusal>({ kind, message, ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }) });
}

/** @throws ApiError for a refusal */
export function unwrapOperator<T>(result: Result<T, OperatorRefusal>): T {
  if (result.ok) return result.value;
  const { kind, message, retryAfterSecs } = result.error;
  throw new ApiError(kind, message, retryAfterSecs === undefined ? {} : { retryAfterSecs });
}
