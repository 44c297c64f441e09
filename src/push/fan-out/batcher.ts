import type { LiveToken } from "../store/tokens/token-store.ts";

/** Maximum number of tokens in one call, from the protocol. */
export const MAX_BATCH_TOKENS = 100;
/** Maximum number of tokens in incomplete batches; with many different URLs, batches are smaller. */
const MAX_WAITING_TOKENS = 500;

/** Until when tokens are claimed, and under which lease of the node. */
export interface ClaimLease {
  /** On the clock of `BatchSenderDeps.monotonicMs`. */
  readonly endsAtMs: number;
  readonly nodeLease: number;
}

/** Tokens for one call to one URL. */
export interface Batch {
  readonly url: string;
  readonly tokens: readonly LiveToken[];
  /** The lease of the first claim among them. */
  readonly lease: ClaimLease;
}

interface Group {
  readonly url: string;
  readonly tokens: LiveToken[];
  readonly lease: ClaimLease;
}

/** Groups tokens by URL into full batches, within a bounded number of waiting tokens. */
export class Batcher {
  readonly #waiting = new Map<string, Group>();
  /** The group of the last token: most tokens of a client have the same URL, and comparing it is cheaper than hashing it. */
  #last: Group | undefined;
  #count = 0;

  /**
   * Adds a token. Returns the batch that it completes, or the largest batch if too many tokens wait.
   *
   * @param lease the lease of its claim; later tokens have later claims
   */
  add(token: LiveToken, lease: ClaimLease): Batch | undefined {
    const { url } = token.details;
    const group = this.#last?.url === url ? this.#last : this.#groupOf(url, lease);
    this.#last = group;
    group.tokens.push(token);
    this.#count += 1;
    if (group.tokens.length >= MAX_BATCH_TOKENS) return this.#take(group);
    return this.#count >= MAX_WAITING_TOKENS ? this.#take(this.#largest()) : undefined;
  }

  /** Returns the incomplete batches. */
  *rest(): Generator<Batch> {
    for (const group of [...this.#waiting.values()]) yield this.#take(group);
  }

  #groupOf(url: string, lease: ClaimLease): Group {
    let group = this.#waiting.get(url);
    if (!group) {
      group = { url, tokens: [], lease };
      this.#waiting.set(url, group);
    }
    return group;
  }

  #take(group: Group): Batch {
    this.#waiting.delete(group.url);
    this.#count -= group.tokens.length;
    if (this.#last === group) this.#last = undefined;
    return group;
  }

  #largest(): Group {
    const [first, ...others] = this.#waiting.values();
    if (!first) throw new Error("no tokens wait");
    return others.reduce((a, b) => (b.tokens.length > a.tokens.length ? b : a), first);
  }
}
