import { awaitEvents, deleteEvents, type IngestClient } from "../../ingest/rpc.ts";

/** Requests of the publisher to the worker that owns the outbox. */
export interface OutboxClient {
  /** Resolves when there is an event after `afterSeq`. */
  awaitEvents(afterSeq: number): Promise<void>;
  /** Deletes published events; resolves when that is durable. */
  deleteEvents(upToSeq: number): Promise<void>;
}

/** Returns a client of the outbox that sends requests to the ingest worker, its only writer. */
export function outboxOver(ingest: IngestClient): OutboxClient {
  return {
    awaitEvents: (afterSeq) => awaitEvents(ingest, afterSeq),
    deleteEvents: (upToSeq) => deleteEvents(ingest, upToSeq),
  };
}
