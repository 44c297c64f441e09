/** How the submission of a message ended. */
export type SubmitResult =
  /** It is in the index, synced; also if it was before. For a node that follows none. */
  | { readonly kind: "merged" }
  /** The upstream has said OK. The message arrives with a later block. */
  | { readonly kind: "accepted" }
  /** It is not in the network, and this submission will never bring it there. `code` is a `RejectionCode` or one of the upstream. */
  | { readonly kind: "refused"; readonly code: string; readonly reason: string }
  /** The upstream refuses the login of this node. */
  | { readonly kind: "login_refused" }
  /** It may or may not be on its way into the network. */
  | { readonly kind: "unknown"; readonly reason: string };

/** The way of signed messages into the network: the writer of the index, or the upstream. */
export interface WriteNetwork {
  /** Submits messages in order. Returns the results in the same order. */
  submit(messages: readonly Uint8Array[]): Promise<readonly SubmitResult[]>;
  /** Returns whether the channel to the upstream is ready within the time; always for a node that follows none. */
  isReady(timeoutMs: number): Promise<boolean>;
}

/** The code by which a node refuses a message that it has. */
export const DUPLICATE_CODE = "bad_request.duplicate";
/** The code by which a node refuses a message that has lost against a newer one. */
export const CONFLICT_CODE = "bad_request.conflict";
