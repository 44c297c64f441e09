import type { IndexDatabase } from "../db/index/database.ts";
import { deleteEventsUpTo, hasEventsAfter, type OutboxBacklog, outboxBacklog } from "../db/index/outbox.ts";
import { type RankingSnapshot, storeRankings } from "../db/index/rankings.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import { Rejection, type RejectionCode } from "../protocol/rejection.ts";
import type { IngestEngine, MergeOutcome } from "./engine.ts";
import type { EventSignal } from "./event-signal.ts";
import type { IngestQueue, IngestStats } from "./queue.ts";
import { decodeRecord, type EncodedRecord, type IngestRecord } from "./record.ts";
import type { RelayedBatch } from "./relay.ts";

/** What other threads ask of the ingest worker. The caller has validated the records that it submits. */
export type IngestRequest =
  | { readonly type: "submit"; readonly records: readonly EncodedRecord[] }
  | { readonly type: "relay"; readonly batch: RelayedBatch }
  | { readonly type: "rankings"; readonly snapshot: RankingSnapshot }
  /** Answered when the outbox holds an event behind `afterSeq`, be it now or in a week. */
  | { readonly type: "awaitEvents"; readonly afterSeq: number }
  /** Events up to `upToSeq` are published. */
  | { readonly type: "deleteEvents"; readonly upToSeq: number }
  | { readonly type: "stats" };

/** A refusal as plain data, null for a record that was merged. */
type PlainOutcome = { readonly code: RejectionCode; readonly reason: string } | null;

export type IngestResponse =
  | { readonly type: "outcomes"; readonly outcomes: readonly PlainOutcome[] }
  | { readonly type: "stored" }
  | { readonly type: "events" }
  | { readonly type: "deleted" }
  | { readonly type: "stats"; readonly stats: WriterStats };

export type IngestClient = RpcClient<IngestRequest, IngestResponse>;

export interface WriterStats extends IngestStats {
  /** Events that wait to be published. */
  readonly outbox: OutboxBacklog;
  /** Why the last write of the index failed; null once one has succeeded. */
  readonly writeFault: string | null;
}

/** The writer's side: `db` is the connection that the queue's engine writes with. */
export interface Writer {
  readonly db: IndexDatabase;
  readonly engine: IngestEngine;
  readonly queue: IngestQueue;
  /** Raised by each commit that writes events. */
  readonly newEvents: EventSignal;
}

/** Answers requests: records go through the queue, everything else is written at once, between two of its commits. */
export async function handleIngestRequest(writer: Writer, request: IngestRequest): Promise<IngestResponse> {
  const { db, engine, queue, newEvents } = writer;
  switch (request.type) {
    case "submit":
      return { type: "outcomes", outcomes: await submit(queue, request.records) };
    case "relay":
      engine.applyRelayed(request.batch);
      return { type: "stored" };
    case "rankings":
      storeRankings(db, request.snapshot);
      return { type: "stored" };
    case "awaitEvents":
      while (!hasEventsAfter(db, request.afterSeq)) await newEvents.next();
      return { type: "events" };
    case "deleteEvents":
      deleteEventsUpTo(db, request.upToSeq);
      return { type: "deleted" };
    case "stats":
      return {
        type: "stats",
        stats: {
          ...queue.stats(),
          outbox: outboxBacklog(db),
          writeFault: db.writeFault?.reason ?? null,
        },
      };
  }
}

async function submit(queue: IngestQueue, records: readonly EncodedRecord[]): Promise<PlainOutcome[]> {
  const decoded = records.map(decodeRecord);
  const outcomes = await queue.submit(
    decoded.filter((record): record is IngestRecord => !(record instanceof Rejection)),
  );
  let next = 0;
  return decoded.map((record): PlainOutcome => {
    const outcome = record instanceof Rejection ? record : outcomes[next++];
    return outcome ? { code: outcome.code, reason: outcome.reason } : null;
  });
}

/** Merges validated records through the ingest worker; outcomes in order, after they are durable. */
export async function submitRecords(
  client: IngestClient,
  records: readonly EncodedRecord[],
): Promise<MergeOutcome[]> {
  const answer = await client.call({ type: "submit", records });
  if (answer.type !== "outcomes") throw new Error("the ingest worker answered another question");
  return answer.outcomes.map((outcome) =>
    outcome ? new Rejection(outcome.code, outcome.reason) : undefined,
  );
}

/** Writes what is relayed from the followed node through the ingest worker; resolves when it is durable. */
export async function submitRelayed(client: IngestClient, batch: RelayedBatch): Promise<void> {
  const answer = await client.call({ type: "relay", batch });
  if (answer.type !== "stored") throw new Error("the ingest worker answered another question");
}

/** Stores a ranking through the ingest worker; resolves when it is durable. */
export async function submitRankings(client: IngestClient, snapshot: RankingSnapshot): Promise<void> {
  const answer = await client.call({ type: "rankings", snapshot });
  if (answer.type !== "stored") throw new Error("the ingest worker answered another question");
}

/** What the ingest worker has done and still has to do. */
export async function ingestStats(client: IngestClient): Promise<WriterStats> {
  const answer = await client.call({ type: "stats" });
  if (answer.type !== "stats") throw new Error("the ingest worker answered another question");
  return answer.stats;
}

/** Resolves when the outbox holds an event behind `afterSeq`. */
export async function awaitEvents(client: IngestClient, afterSeq: number): Promise<void> {
  const answer = await client.call({ type: "awaitEvents", afterSeq });
  if (answer.type !== "events") throw new Error("the ingest worker answered another question");
}

/** Takes published events out of the outbox; resolves when that is durable. */
export async function deleteEvents(client: IngestClient, upToSeq: number): Promise<void> {
  const answer = await client.call({ type: "deleteEvents", upToSeq });
  if (answer.type !== "deleted") throw new Error("the ingest worker answered another question");
}
