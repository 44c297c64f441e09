const CASTS_PER_GENERATION = 20_000;

/** The ids of live casts that the writer used last, by hash. Most rows name a cast of the last hours. */
export class RecentCasts {
  #young = new Map<string, { id: number; fid: number }>();
  #old = new Map<string, { id: number; fid: number }>();

  /** Returns the id of a live cast of this author, if it is known. */
  idOf(fid: number, hash: Uint8Array): number | undefined {
    const key = keyOf(hash);
    const cast = this.#young.get(key) ?? this.#old.get(key);
    return cast?.fid === fid ? cast.id : undefined;
  }

  add(id: number, fid: number, hash: Uint8Array): void {
    if (this.#young.size >= CASTS_PER_GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(keyOf(hash), { id, fid });
  }

  /** The cast is no longer live. */
  drop(hash: Uint8Array): void {
    const key = keyOf(hash);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}

function keyOf(hash: Uint8Array): string {
  return Buffer.prototype.latin1Slice.call(hash);
}
