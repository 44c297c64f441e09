import { awaitEvents, deleteEvents, type IngestClient } from "../../ingest/rpc.ts";

/** What the publisher asks of the outbox's owner. */
export interface OutboxClient {
  /** Resolves when there is an event behind `afterSeq`. */
  awaitEvents(afterSeq: number): Promise<void>;
  /** Deletes events that are published; resolves when that is durable. */
  deleteEvents(upToSeq: number): Promise<void>;
}

/** The outbox of the index, through the one worker that writes to it. */
export function outboxOver(ingest: IngestClient): OutboxClient {
  return {
    awaitEvents: (afterSeq) => awaitEvents(ingest, afterSeq),
    deleteEvents: (upToSeq) => deleteEvents(ingest, upToSeq),
  };
}
