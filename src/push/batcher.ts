import type { LiveToken } from "./store/token-store.ts";

/** Limit of tokens in one call, from the protocol. */
export const MAX_BATCH_TOKENS = 100;
/** Limit of tokens in incomplete batches; with many different URLs, batches are smaller. */
const MAX_WAITING_TOKENS = 500;

/** Tokens for one call to one URL. */
export interface Batch {
  readonly url: string;
  readonly tokens: readonly LiveToken[];
  /** When the first of their claims expires, on the clock of `BatchSenderDeps.monotonicMs`. */
  readonly leaseEndsAtMs: number;
}

interface Group {
  readonly tokens: LiveToken[];
  readonly leaseEndsAtMs: number;
}

/** Groups tokens by URL into full batches, within a bounded number of waiting tokens. */
export class Batcher {
  readonly #waiting = new Map<string, Group>();
  #count = 0;

  /**
   * Adds a token; returns the batch that it completes, or the largest batch when too many tokens wait.
   *
   * @param leaseEndsAtMs when its claim expires; later tokens have later claims
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

  /** Returns the incomplete batches. */
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
