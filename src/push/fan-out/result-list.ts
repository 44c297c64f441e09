import type { BatchResults, TokenResult } from "../store/campaigns/notification-ledger.ts";

/** A send to more tokens than this does not return the result of each. */
const MAX_LISTED = 100;

/** Results of the tokens of one send, up to a limit. */
export class ResultList {
  readonly #results: TokenResult[] = [];
  #isFull = false;

  add({ tokens, outcomes }: BatchResults): void {
    this.#isFull ||= this.#results.length + tokens.length > MAX_LISTED;
    if (this.#isFull) {
      this.#results.length = 0;
      return;
    }
    for (const [at, { fid, clientFid }] of tokens.entries()) {
      const outcome = outcomes[at];
      if (!outcome) throw new Error("a token has no outcome");
      const { kind, reason, isRetryable } = outcome;
      this.#results.push({ fid, clientFid, kind, reason, isRetryable });
    }
  }

  /** Undefined when there were too many. */
  all(): readonly TokenResult[] | undefined {
    return this.#isFull ? undefined : this.#results;
  }
}
