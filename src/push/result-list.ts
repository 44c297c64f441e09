import type { TokenResult } from "./store/notification-ledger.ts";

/** A send to more tokens than this does not return the result of each. */
const MAX_LISTED = 100;

/** Results of the tokens of one send, up to a limit. */
export class ResultList {
  readonly #results: TokenResult[] = [];
  #isFull = false;

  add(results: readonly TokenResult[]): void {
    this.#isFull ||= this.#results.length + results.length > MAX_LISTED;
    if (this.#isFull) this.#results.length = 0;
    else this.#results.push(...results);
  }

  /** Undefined when there were too many. */
  all(): readonly TokenResult[] | undefined {
    return this.#isFull ? undefined : this.#results;
  }
}
