import { type BudgetTerms, roomFor } from "./budgets.ts";

/** Which bound of a budget is exhausted: that of one client, or that of all. */
export type Shortage = "client" | "total";

/** What all clients hold, and how often each bound refused one. */
export interface BudgetUse {
  readonly held: number;
  readonly refused: Readonly<Record<Shortage, number>>;
}

/** Positions of the words before the entries. */
const HELD = 0;
const REFUSED = { client: 1, total: 2 } as const satisfies Record<Shortage, number>;
const SEED = 3;
const HEADER = 4;
/** For each entry, the hash of its client, and the amount that the client holds. */
const WORDS = 2;
/** A client may be in any of this many entries, so a lookup reads one cache line. */
const WAYS = 8;
/** A power of two, larger than the number of clients that hold something at the same time. */
const ENTRIES = 8192;

/**
 * Bounds what clients hold at once, such as bytes of request bodies, with a total and a share for each client. The counts are in memory
 * that threads share, so taking is two atomic additions. Only clients that hold something have an entry. Clients are hashed with a secret,
 * so they cannot choose the clients with which they share an entry. If all entries that a client may use are taken, it shares the one with
 * the smallest amount.
 */
export class Budget {
  readonly terms: BudgetTerms;
  /** Transferable to another thread, which creates its own `Budget` from it. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #seed: bigint;

  constructor(
    terms: BudgetTerms,
    shared = new SharedArrayBuffer((HEADER + ENTRIES * WORDS) * Int32Array.BYTES_PER_ELEMENT),
  ) {
    this.terms = terms;
    this.shared = shared;
    this.#words = new Int32Array(shared);
    // The first thread draws the seed.
    if (Atomics.load(this.#words, SEED) === 0)
      Atomics.compareExchange(this.#words, SEED, 0, crypto.getRandomValues(new Int32Array(1))[0] || 1);
    this.#seed = BigInt(Atomics.load(this.#words, SEED));
  }

  /**
   * Opens an empty hold.
   *
   * @param perClient the share of the client. Default: that of the terms.
   */
  open(client: string, perClient = this.terms.perClient): Hold {
    return new Hold(this, client, perClient);
  }

  use(): BudgetUse {
    const [held, client, total] = [HELD, REFUSED.client, REFUSED.total].map((at) =>
      Atomics.load(this.#words, at),
    );
    return { held: held ?? 0, refused: { client: client ?? 0, total: total ?? 0 } };
  }

  /** Adds to an entry unless that exceeds a bound, which is returned. Only for `Hold`. */
  take(entry: number, amount: number, perClient: number): Shortage | undefined {
    const own = Atomics.add(this.#words, entry + 1, amount) + amount;
    if (own > perClient) {
      Atomics.sub(this.#words, entry + 1, amount);
      return this.#refuse("client");
    }
    if (Atomics.add(this.#words, HELD, amount) + amount > roomFor(own, this.terms)) {
      this.release(entry, amount);
      return this.#refuse("total");
    }
    return undefined;
  }

  /** Only for `Hold`. */
  release(entry: number, amount: number): void {
    Atomics.sub(this.#words, entry + 1, amount);
    Atomics.sub(this.#words, HELD, amount);
  }

  /** Returns the position of a client's entry, which the client keeps while it holds something. Only for `Hold`. */
  entryOf(client: string): number {
    const hash = Bun.hash.wyhash(client, this.#seed);
    const tag = Number(BigInt.asIntN(32, hash)) || 1;
    const first = HEADER + (Number(hash >> 32n) & (ENTRIES - 1) & ~(WAYS - 1)) * WORDS;
    for (;;) {
      let smallest = first;
      let smallestHeld = Number.POSITIVE_INFINITY;
      for (let at = first; at < first + WAYS * WORDS; at += WORDS) {
        if (Atomics.load(this.#words, at) === tag) return at;
        const held = Atomics.load(this.#words, at + 1);
        if (held >= smallestHeld) continue;
        smallest = at;
        smallestHeld = held;
      }
      if (smallestHeld > 0) return smallest;
      const former = Atomics.load(this.#words, smallest);
      if (Atomics.compareExchange(this.#words, smallest, former, tag) === former) return smallest;
    }
  }

  #refuse(shortage: Shortage): Shortage {
    Atomics.add(this.#words, REFUSED[shortage], 1);
    return shortage;
  }
}

/** The share of a budget that one request or connection holds. It may grow and shrink until it ends. */
export class Hold {
  readonly #budget: Budget;
  readonly #client: string;
  readonly #perClient: number;
  #entry = 0;
  #amount = 0;
  #isOver = false;

  constructor(budget: Budget, client: string, perClient: number) {
    this.#budget = budget;
    this.#client = client;
    this.#perClient = perClient;
  }

  get amount(): number {
    return this.#amount;
  }

  /** Takes more. Returns the bound that this would exceed; what was held before stays. Takes nothing after the end. */
  grow(amount: number): Shortage | undefined {
    if (this.#isOver) return "client";
    if (this.#amount === 0) this.#entry = this.#budget.entryOf(this.#client);
    const shortage = this.#budget.take(this.#entry, amount, this.#perClient);
    if (shortage === undefined) this.#amount += amount;
    return shortage;
  }

  /** Returns the bound that taking more would exceed, without taking it. */
  shortageOf(amount: number): Shortage | undefined {
    const before = this.#amount;
    const shortage = this.grow(amount);
    this.shrinkTo(before);
    return shortage;
  }

  /** Releases all but `amount`. */
  shrinkTo(amount: number): void {
    const surplus = this.#amount - amount;
    if (surplus <= 0) return;
    this.#amount = amount;
    this.#budget.release(this.#entry, surplus);
  }

  end(): void {
    this.shrinkTo(0);
    this.#isOver = true;
  }
}
