/** The result of submitting a message. */
export type SubmitResult =
  /** It is in the index, synced, whether or not it was there before. Only on a node that follows no other. */
  | { readonly kind: "merged" }
  /** The upstream has returned OK. The message arrives with a later block. */
  | { readonly kind: "accepted" }
  /** It is not in the network, and this submission will never bring it there. `code` is a `RejectionCode` or one of the upstream's. */
  | { readonly kind: "refused"; readonly code: string; readonly reason: string }
  /** The upstream refuses the login of this node. */
  | { readonly kind: "login_refused" }
  /** It may or may not reach the network. */
  | { readonly kind: "unknown"; readonly reason: string };

/** The path of signed messages into the network: the writer of the index, or the upstream. */
export interface WriteNetwork {
  /** Submits messages in order. Returns the results in the same order. */
  submit(messages: readonly Uint8Array[]): Promise<readonly SubmitResult[]>;
  /** Returns whether the channel to the upstream is ready within the time limit; always true on a node that follows no other. */
  isReady(timeoutMs: number): Promise<boolean>;
}

/** The code with which a node refuses a message that it already has. */
export const DUPLICATE_CODE = "bad_request.duplicate";
/** The code with which a node refuses a message that has lost against a newer one. */
export const CONFLICT_CODE = "bad_request.conflict";
