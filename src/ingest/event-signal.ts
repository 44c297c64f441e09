/** Wakes up the callers that wait for the writer's next events. */
export class EventSignal {
  #next = Promise.withResolvers<void>();

  /** Resolves at the next commit that writes events. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  raise(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}
