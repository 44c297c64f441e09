/** The outcome of a message of a write, for its sender. */
export interface MessageOutcome {
  /** The hash of the message as lower-case hex; empty where no message was made. */
  readonly hash: string;
  readonly fid: number;
  /** The number of the message's type. */
  readonly type: number;
  /**
   * `pending`: not decided yet, never in a reply. `merged`: synced and readable here. `queued`: brought into the network until it
   * takes or refuses it. `unchanged`: the network has it already, so no message was made. `refused`: not there, and never will be.
   * `skipped`: this part of the write can make no message.
   */
  readonly state: "pending" | "merged" | "queued" | "unchanged" | "refused" | "skipped";
  /** For a refused message. */
  readonly refusal?: WriteRefusal;
  /** True for a merged message of a channel if a later one held its slot already when this one was found in the index. */
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

/** What a call has led to so far. */
export interface CallOutcome {
  readonly outcomes: readonly MessageOutcome[];
  readonly isDone: boolean;
  /** Whether nothing of it is or will be in the network, so that its idempotency key can be used again. */
  readonly isFreed: boolean;
}

/** Returns a call with newly decided outcomes by position. The first response stays. */
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
