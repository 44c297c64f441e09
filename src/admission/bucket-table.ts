/** The refill rate and the size of a token bucket. */
export interface BucketLimit {
  readonly perMinute: number;
  readonly burst: number;
}

/** A bucket after a request. */
export interface BucketState {
  readonly isAdmitted: boolean;
  /** Whole tokens left. */
  readonly left: number;
  readonly fullInSecs: number;
  /** When the request would be admitted; 0 if it was. */
  readonly retryInSecs: number;
}

const NS_PER_MINUTE = 60e9;
const NS_PER_SEC = 1e9;
/** A name may be in any of this many entries, so a lookup reads two cache lines. */
const WAYS = 8;
/** For each entry, the hash of its name, and the time at which its bucket is full, in ns since the table was created. */
const WORDS = 2;
/** Words before the entries: the seed of the hash, and the time at which the table was created, in ms. */
const HEADER = 2;
/** Names whose position a thread remembers. */
const MAX_PLACES = 4_096;
/** Attempts of a charge while other threads change the same bucket. */
const MAX_TRIES = 1000;

/**
 * Token buckets by name, shared by threads. The table is fixed, and each bucket is one number (the time at which it is full again),
 * charged by compare-and-swap. Buckets start full. A new name replaces the idlest of eight; clients cannot choose which, because names
 * are hashed with a secret. Time is monotonic.
 */
export class BucketTable {
  readonly shared: SharedArrayBuffer;
  readonly #words: BigInt64Array;
  readonly #seed: bigint;
  readonly #originMs: number;
  readonly #nowMs: () => number;
  /** Where names were found, valid while their hash is there. The cache makes a lookup cost a third of a charge. */
  readonly #places = new Map<string, { readonly at: number; readonly hash: bigint }>();

  /**
   * @param source the number of buckets, a power of two; or the memory of another thread's table.
   * @param nowMs the same monotonic clock in all threads.
   */
  constructor(source: number | SharedArrayBuffer, nowMs = sharedMonotonicMs) {
    const isNew = typeof source === "number";
    this.shared = isNew
      ? new SharedArrayBuffer((HEADER + source * WORDS) * BigInt64Array.BYTES_PER_ELEMENT)
      : source;
    this.#words = new BigInt64Array(this.shared);
    this.#nowMs = nowMs;
    if (isNew) {
      crypto.getRandomValues(this.#words.subarray(0, 1));
      this.#words[1] = BigInt(Math.floor(nowMs()));
    }
    this.#seed = BigInt.asUintN(64, this.#words[0] ?? 0n);
    this.#originMs = Number(this.#words[1]);
  }

  /** Takes tokens if the bucket has them. A request for more than the bucket's size costs the whole bucket. */
  take(name: string, tokens: number, { perMinute, burst }: BucketLimit): BucketState {
    const nsPerToken = NS_PER_MINUTE / perMinute;
    const sizeNs = burst * nsPerToken;
    const costNs = Math.min(tokens, burst) * nsPerToken;
    const nowNs = Math.floor((this.#nowMs() - this.#originMs) * 1e6);
    const at = this.#entryOf(name, nowNs) + 1;
    const stateOf = (fullAtNs: number, retryNs: number): BucketState => ({
      isAdmitted: retryNs === 0,
      left: Math.max(0, Math.floor((sizeNs - (fullAtNs - nowNs)) / nsPerToken + ROUNDING)),
      fullInSecs: Math.max(0, Math.ceil((fullAtNs - nowNs) / NS_PER_SEC)),
      retryInSecs: Math.ceil(retryNs / NS_PER_SEC),
    });

    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = Atomics.load(this.#words, at);
      const fullAtNs = Math.max(Number(stored), nowNs);
      const chargedNs = fullAtNs + costNs;
      const missingNs = chargedNs - nowNs - sizeNs;
      if (missingNs > ROUNDING_NS) return stateOf(fullAtNs, missingNs);
      const next = BigInt(Math.ceil(chargedNs));
      if (Atomics.compareExchange(this.#words, at, stored, next) === stored) return stateOf(chargedNs, 0);
    }
    return stateOf(nowNs, 0);
  }

  /** Takes tokens even if the bucket has too few, or returns tokens if `tokens` is negative. The debt is at most one bucket. */
  charge(name: string, tokens: number, { perMinute, burst }: BucketLimit): void {
    const nsPerToken = NS_PER_MINUTE / perMinute;
    const nowNs = Math.floor((this.#nowMs() - this.#originMs) * 1e6);
    const at = this.#entryOf(name, nowNs) + 1;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const stored = Atomics.load(this.#words, at);
      const chargedNs = Math.max(Number(stored), nowNs) + tokens * nsPerToken;
      const next = BigInt(Math.ceil(Math.min(chargedNs, nowNs + 2 * burst * nsPerToken)));
      if (Atomics.compareExchange(this.#words, at, stored, next) === stored) return;
    }
  }

  /** Returns the position of a name's entry, and claims an entry for a new name. */
  #entryOf(name: string, nowNs: number): number {
    const place = this.#places.get(name);
    if (place !== undefined && Atomics.load(this.#words, place.at) === place.hash) return place.at;
    const hash = BigInt.asIntN(64, Bun.hash.wyhash(name, this.#seed)) || 1n;
    const buckets = (this.#words.length - HEADER) / WORDS;
    const first = Number(BigInt.asUintN(32, hash)) & (buckets - 1) & ~(WAYS - 1);
    for (;;) {
      let idlest = -1;
      let idlestHash = 0n;
      let idlestTime = 0n;
      for (let way = 0; way < WAYS; way += 1) {
        const at = HEADER + (first + way) * WORDS;
        const found = Atomics.load(this.#words, at);
        if (found === hash) {
          this.#remember(name, at, hash);
          return at;
        }
        const time = found === 0n ? -1n : Atomics.load(this.#words, at + 1);
        if (idlest !== -1 && time >= idlestTime) continue;
        idlest = at;
        idlestHash = found;
        idlestTime = time;
      }
      if (Atomics.compareExchange(this.#words, idlest, idlestHash, hash) !== idlestHash) continue;
      // A bucket that was full needs no change. Any other is filled, unless another thread has charged it already.
      if (idlestTime > BigInt(nowNs)) {
        Atomics.compareExchange(this.#words, idlest + 1, idlestTime, BigInt(nowNs));
      }
      return idlest;
    }
  }

  /** Called when an entry is found, not when it is claimed: another thread may have claimed an earlier one, which all lookups find. */
  #remember(name: string, at: number, hash: bigint): void {
    if (this.#places.size >= MAX_PLACES) this.#places.clear();
    this.#places.set(name, { at, hash });
  }
}

/** Times are whole nanoseconds, and therefore many small charges add up to slightly more than their tokens. */
const ROUNDING_NS = 1000;
const ROUNDING = 1e-3;

/** A clock that all threads share and that no one can set. */
function sharedMonotonicMs(): number {
  return performance.timeOrigin + performance.now();
}
