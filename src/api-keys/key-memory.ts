/** What decides whether a thread may use what it remembers of API keys. */
export interface KeyMemory {
  /**
   * Rises after each change that takes something away from a key, before the change is answered: on all threads of the node at once, on other
   * nodes with their next beat.
   */
  readonly keyEpoch: number;
  /** Whether the node may have missed such a change, because it has not renewed its lease. It then asks the store each time. */
  isFenced(): boolean;
}
