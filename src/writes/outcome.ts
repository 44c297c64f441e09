/** The outcome of one message of a write, for its sender. */
export interface MessageOutcome {
  /** The hash of the message as lowercase hex; empty if no message was created. */
  readonly hash: string;
  readonly fid: number;
  /** The number of the message's type. */
  readonly type: number;
  /**
   * `pending`: not decided yet, never in a reply. `merged`: synced and readable here. `queued`: submitted until the network accepts or
   * refuses it. `unchanged`: the network already has it, so no message was created. `refused`: not in the network, and never will be.
   * `skipped`: no message can be created for this part of the write.
   */
  readonly state: "pending" | "merged" | "queued" | "unchanged" | "refused" | "skipped";
  /** For a refused message. */
  readonly refusal?: WriteRefusal;
  /** True for a merged channel message if a later one already had its slot when this one was found in the index. */
  readonly isReplaced?: true;
}

/** What was decided about a message. */
export type Decided = Pick<MessageOutcome, "state" | "refusal" | "isReplaced">;

/** Why a write or one of its messages was refused. */
export interface WriteRefusal {
  /** HTTP status. */
  readonly status: number;
  readonly code: WriteErrorCode;
  readonly message: string;
  readonly retryAfterSecs?: number;
}

/** The stable codes of the header `x-error-code`. */
export type WriteErrorCode =
  | "invalid_message"
  | "unknown_signer"
  | "signer_not_approved"
  | "signer_locked"
  | "signer_not_on_chain"
  | "out_of_scope"
  | "needs_pro"
  | "no_storage"
  | "conflict"
  | "not_merged"
  | "idempotency_conflict"
  | "in_progress"
  | "rate_limited"
  | "unavailable"
  | "upstream_unavailable"
  | "upstream_refused"
  | "not_implemented"
  | "internal";

/** The result of a call so far. */
export interface CallOutcome {
  readonly outcomes: readonly MessageOutcome[];
  readonly isDone: boolean;
  /** Whether none of it is or will be in the network, so that its idempotency key can be used again. */
  readonly isFreed: boolean;
}

/** Returns a call with newly decided outcomes by position. The first outcome stays. */
export function decideOutcomes(
  outcomes: readonly MessageOutcome[],
  decided: ReadonlyMap<number, Decided>,
): CallOutcome {
  const now = outcomes.map((outcome, at) =>
    outcome.state === "pending" ? { ...outcome, ...decided.get(at) } : outcome,
  );
  return {
    outcomes: now,
    isDone: now.every(({ state }) => state !== "pending"),
    isFreed: now.every(({ state }) => state === "refused"),
  };
}
