/** Requests of the publisher to the worker that owns the outbox. */
export interface OutboxClient {
  /** Resolves when there is an event after `afterSeq`. */
  awaitEvents(afterSeq: number): Promise<void>;
  /** Records that all events up to a number are published; resolves when that is durable. */
  markPublished(upToSeq: number): Promise<void>;
}
