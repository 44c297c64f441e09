import type { LiveToken } from "../db/state/records.ts";

/** The protocol's limit of tokens in one call. */
export const MAX_BATCH_TOKENS = 100;
/** Tokens that wait for their batch to fill; with as many URLs as tokens, batches go out smaller. */
const MAX_WAITING_TOKENS = 500;

/** Tokens that go to one URL in one call. */
export interface Batch {
  readonly url: string;
  readonly tokens: readonly LiveToken[];
  /** When the first of their claims ends, on the clock of `DeliveryParts.monotonicMs`. */
  readonly leaseEndsAtMs: number;
}

interface Group {
  readonly tokens: LiveToken[];
  readonly leaseEndsAtMs: number;
}

/** Groups tokens by URL into full batches, as far as a bounded number of waiting tokens allows. */
export class Batcher {
  readonly #waiting = new Map<string, Group>();
  #count = 0;

  /**
   * Takes a token; answers the batch that is complete with it, or that has to go to make room.
   *
   * @param leaseEndsAtMs when its claim ends; later tokens have later claims
   */
  add(token: LiveToken, leaseEndsAtMs: number): Batch | undefined {
    const { url } = token.details;
    let group = this.#waiting.get(url);
    if (!group) {
      group = { tokens: [], leaseEndsAtMs };
      this.#waiting.set(url, group);
    }
    group.tokens.push(token);
    this.#count += 1;
    if (group.tokens.length >= MAX_BATCH_TOKENS) return this.#take(url, group);
    return this.#count >= MAX_WAITING_TOKENS ? this.#take(...this.#largest()) : undefined;
  }

  /** What is left at the end. */
  *rest(): Generator<Batch> {
    for (const [url, group] of [...this.#waiting]) yield this.#take(url, group);
  }

  #take(url: string, group: Group): Batch {
    this.#waiting.delete(url);
    this.#count -= group.tokens.length;
    return { url, ...group };
  }

  #largest(): [url: string, group: Group] {
    const [first, ...others] = this.#waiting;
    if (!first) throw new Error("no tokens wait");
    return others.reduce((a, b) => (b[1].tokens.length > a[1].tokens.length ? b : a), first);
  }
}
