/** Requests of the publisher to the worker that owns the outbox. */
export interface OutboxClient {
  /** Resolves when there is an event after `afterSeq`. */
  awaitEvents(afterSeq: number): Promise<void>;
  /** Deletes published events; resolves when that is durable. */
  deleteEvents(upToSeq: number): Promise<void>;
}
