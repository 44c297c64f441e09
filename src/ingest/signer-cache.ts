const MAX_CACHED_KEYS = 20_000;

/**
 * Keys that the writer found to be active on-chain keys of registered fids, and keys that are not gasless keys. Both are
 * forgotten when an on-chain event or a gasless key is merged or removed.
 */
export class SignerCache {
  readonly #activeFids = new Map<string, number>();
  readonly #notGasless = new Set<string>();

  /** Whether the key is known to be an active on-chain key of this registered fid. */
  isActive(fid: number, key: Uint8Array): boolean {
    return this.#activeFids.get(nameOf(key)) === fid;
  }

  addActive(fid: number, key: Uint8Array): void {
    if (this.#activeFids.size >= MAX_CACHED_KEYS) this.#activeFids.clear();
    this.#activeFids.set(nameOf(key), fid);
  }

  /** Whether the key is known not to be a gasless key. */
  isNotGasless(key: Uint8Array): boolean {
    return this.#notGasless.has(nameOf(key));
  }

  addNotGasless(key: Uint8Array): void {
    if (this.#notGasless.size >= MAX_CACHED_KEYS) this.#notGasless.clear();
    this.#notGasless.add(nameOf(key));
  }

  clear(): void {
    this.#activeFids.clear();
    this.#notGasless.clear();
  }
}

function nameOf(key: Uint8Array): string {
  return Buffer.prototype.latin1Slice.call(key);
}
