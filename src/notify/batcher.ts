import type { LiveToken } from "../state/records.ts";

/** The protocol's limit of tokens in one call. */
export const MAX_BATCH_TOKENS = 100;
/** Tokens that wait for their batch to fill; with as many URLs as tokens, batches go out smaller. */
const MAX_WAITING_TOKENS = 500;

/** Tokens that go to one URL in one call. */
export interface Batch {
  readonly url: string;
  readonly tokens: readonly LiveToken[];
}

/** Groups tokens by URL into full batches, as far as a bounded number of waiting tokens allows. */
export class Batcher {
  readonly #waiting = new Map<string, LiveToken[]>();
  #count = 0;

  /** Takes a token; answers the batch that is complete with it, or that has to go to make room. */
  add(token: LiveToken): Batch | undefined {
    const { url } = token.details;
    const group = this.#waiting.get(url);
    if (group) group.push(token);
    else this.#waiting.set(url, [token]);
    this.#count += 1;
    if ((group?.length ?? 1) >= MAX_BATCH_TOKENS) return this.#take(url);
    return this.#count >= MAX_WAITING_TOKENS ? this.#take(this.#largest()) : undefined;
  }

  /** What is left at the end. */
  *rest(): Generator<Batch> {
    for (const url of [...this.#waiting.keys()]) yield this.#take(url);
  }

  #take(url: string): Batch {
    const tokens = this.#waiting.get(url) ?? [];
    this.#waiting.delete(url);
    this.#count -= tokens.length;
    return { url, tokens };
  }

  #largest(): string {
    let largest = { url: "", tokens: 0 };
    for (const [url, { length }] of this.#waiting)
      if (length > largest.tokens) largest = { url, tokens: length };
    return largest.url;
  }
}
