import type { TokenPosition } from "../tokens/token-store.ts";
import type { CampaignRun } from "./campaign-store.ts";

export interface ClaimResult<Token extends TokenPosition> {
  /** Tokens that this campaign may send to until the lease expires. */
  readonly claimed: readonly Token[];
  /** Tokens that this campaign has already counted. */
  readonly alreadyCounted: readonly Token[];
  /** Tokens that another campaign sent the notification to, or is about to. */
  readonly conflicting: readonly Token[];
}

/** The outcome of a claimed token. */
export interface TokenOutcome {
  readonly kind: "success" | "failure";
  /** Empty for a success. */
  readonly reason: string;
  /** Whether the same notification may be sent to its fid later. */
  readonly isRetryable: boolean;
}

/** Result of a claimed token. */
export interface TokenResult extends TokenPosition, TokenOutcome {}

/** The results of the tokens of one call. Tokens with equal outcomes should share one object, which is cheaper to record. */
export interface BatchResults {
  readonly tokens: readonly TokenPosition[];
  /** One per token, in the same order. */
  readonly outcomes: readonly TokenOutcome[];
}

/**
 * Records which token got which notification, so that a notification reaches a token only once. A claim is atomic across concurrent
 * campaigns, threads and processes. Claims and retention expire by the state's clock, which is unaffected by jumps of the machine's
 * clock. Every method may be repeated if its response was lost.
 *
 * @throws RunLost from every method if another run of the campaign has started; nothing is stored then
 */
export interface NotificationLedger {
  /** Claims tokens for `leaseSecs`, or extends existing claims of the campaign. */
  claim<Token extends TokenPosition>(
    run: CampaignRun,
    tokens: readonly Token[],
    leaseSecs: number,
  ): Promise<ClaimResult<Token>>;
  /**
   * Records the results of claimed tokens of one host, in one transaction with the counts. Calls that wait share a
   * transaction. A success is stored for `retentionSecs`; other results release the claim.
   */
  record(run: CampaignRun, host: string, results: BatchResults, retentionSecs: number): Promise<void>;
  /**
   * Sets how many tokens of a host the run has not attempted so far, by reason. The number for a reason only grows: a smaller one than
   * before is ignored.
   */
  setNotAttempted(run: CampaignRun, host: string, totals: Readonly<Record<string, number>>): Promise<void>;
}
