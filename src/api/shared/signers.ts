import { ApiError } from "../../http/errors.ts";
import type { Result } from "../../lib/result.ts";
import type { SignerRefusal } from "../../signers/refusal.ts";

/** @throws ApiError of the refusal's kind. */
export function unwrapSigner<T>(result: Result<T, SignerRefusal>): T {
  if (result.ok) return result.value;
  const { kind, message, ...options } = result.error;
  throw new ApiError(kind, message, options);
}
