import type { ErrorName } from "../http/errors.ts";
import { type Err, err } from "../lib/result.ts";

/** Reason why a request about managed signers is refused. It can be sent between threads. */
export interface SignerRefusal {
  readonly kind: ErrorName;
  /** Text for the client. */
  readonly message: string;
  /** Stable identifier of the cause, sent as `x-error-code`. */
  readonly code?: string;
  readonly retryAfterSecs?: number;
}

export function refuse(
  kind: ErrorName,
  message: string,
  more: Pick<SignerRefusal, "code" | "retryAfterSecs"> = {},
): Err<SignerRefusal> {
  return err({ kind, message, ...more });
}

/** Used also for a signer of another owner, so that callers cannot tell the two apart. */
export const unknownSigner = () => refuse("notFound", "no such signer", { code: "unknown_signer" });

/** Message of a node that has no master key. */
export const NO_MASTER_KEY = "managed signers need signers.encryption_key";
export const noMasterKey = () => refuse("notImplemented", NO_MASTER_KEY, { code: "not_implemented" });

/** Time for an operator to add a key and restart the node. */
export const LOCKED_RETRY_SECS = 60;

/** Returns the refusal for a signer whose seed is sealed under a key that the node does not use. */
export const locked = () =>
  refuse("unavailable", "this node cannot open the key of the signer", {
    code: "signer_locked",
    retryAfterSecs: LOCKED_RETRY_SECS,
  });

/** Refusal of a message that the network accepts only from keys on chain, for a signer with a gasless key. */
export const NOT_ON_CHAIN = {
  code: "signer_not_on_chain",
  message:
    "the network takes this from keys that were added on chain only, and the key of this signer is gasless",
} as const;
