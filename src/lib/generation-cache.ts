/**
 * Keeps what was used of late, at most twice `maxPerGeneration` entries. When the young generation is full it becomes the
 * old one, and what the old one held unasked is let go: nearly what a least-recently-used list keeps, for two map
 * lookups.
 */
export class GenerationCache<Key, Value extends object> {
  readonly #maxPerGeneration: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  constructor(maxPerGeneration: number) {
    this.#maxPerGeneration = maxPerGeneration;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#maxPerGeneration) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
  }
}
