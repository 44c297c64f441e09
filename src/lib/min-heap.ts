/** A queue that gives out what has the smallest key first, in the order of the keys. */
export class MinHeap<T> {
  readonly #entries: { readonly key: number; readonly value: T }[] = [];

  get size(): number {
    return this.#entries.length;
  }

  peek(): { readonly key: number; readonly value: T } | undefined {
    return this.#entries[0];
  }

  push(key: number, value: T): void {
    const entries = this.#entries;
    let at = entries.push({ key, value }) - 1;
    for (
      let parent = (at - 1) >> 1;
      at > 0 && this.#keyAt(at) < this.#keyAt(parent);
      parent = (at - 1) >> 1
    ) {
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): { readonly key: number; readonly value: T } | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first;
    entries[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const child = this.#keyAt(left + 1) < this.#keyAt(left) ? left + 1 : left;
      if (this.#keyAt(child) >= this.#keyAt(at)) return first;
      this.#swap(at, child);
      at = child;
    }
  }

  #keyAt(at: number): number {
    return this.#entries[at]?.key ?? Number.POSITIVE_INFINITY;
  }

  #swap(a: number, b: number): void {
    const entries = this.#entries;
    const [entryA, entryB] = [entries[a], entries[b]];
    if (entryA === undefined || entryB === undefined) return;
    entries[a] = entryB;
    entries[b] = entryA;
  }
}
