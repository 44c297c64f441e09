import type { Settlement } from "./store/campaigns.ts";

/** A send to more tokens than this does not tell what became of each. */
const MAX_LISTED = 100;

/** What became of the tokens of one send, as long as they are few. */
export class DeliveryList {
  readonly #settled: Settlement[] = [];
  #isFull = false;

  add(settlements: readonly Settlement[]): void {
    this.#isFull ||= this.#settled.length + settlements.length > MAX_LISTED;
    if (this.#isFull) this.#settled.length = 0;
    else this.#settled.push(...settlements);
  }

  /** Undefined where there were too many. */
  all(): readonly Settlement[] | undefined {
    return this.#isFull ? undefined : this.#settled;
  }
}
