import type { BulkProgress } from "../../db/index/bulk/bulk-state.ts";
import {
  type RankingSnapshot,
  storeRankings,
  storeTopics,
  type TopicRanking,
} from "../../db/index/counts/rankings.ts";
import { type ScoreStep, writeScores } from "../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { hasHubEventsAfter } from "../../db/index/log/hub-log.ts";
import { type EventSpan, hasEventsAfter, outboxBacklog } from "../../db/index/log/outbox.ts";
import { type RpcClient, serveRpc } from "../../lib/port-rpc.ts";
import type { IngestEngine } from "../engine.ts";
import { decodeRecord, type EncodedRecord, type MergeOutcome } from "../record.ts";
import type { RelayedBatch } from "../relayed-op.ts";
import { IndexFullError, type IndexSize, type SizeBound } from "../size-bound.ts";
import type { LogRetention } from "./log-retention.ts";
import type { IngestQueue, IngestStats } from "./queue.ts";

/**
 * The methods of the ingest worker. Each write is durable when its call returns, except for spooled batches and the steps of
 * a bulk build, which become durable in their order, all of them by the time the build has finished.
 */
export interface IngestRpc {
  /** Merges records that the caller has validated. Returns the outcomes in order. */
  submit(records: readonly EncodedRecord[]): readonly MergeOutcome[];
  /** Writes records and positions relayed from the followed node. Returns whether the index had room for them. */
  relay(batch: RelayedBatch): boolean;
  /** Reports whether the index has room for more. */
  hasRoom(): boolean;
  /** Runs the next step of the bulk build. Returns undefined when the index is built. */
  buildStep(): BulkProgress | undefined;
  storeRankings(snapshot: RankingSnapshot): void;
  storeTopics(ranking: TopicRanking): void;
  /** Writes a step of a run of scores. */
  writeScores(step: ScoreStep): number;
  /** Returns when the outbox has an event after `afterSeq`, however long that takes. */
  awaitEvents(afterSeq: number): void;
  /** Returns when the log of hub events has an event after `afterSeq`, however long that takes. */
  awaitHubEvents(afterSeq: number): void;
  /** Appends an empty block to the log of hub events, if this node numbers its blocks itself. */
  heartbeat(): void;
  /** Records that all events of the outbox up to a number are published. */
  markPublished(upToSeq: number): void;
  stats(): WriterStats;
}

export type IngestClient = RpcClient<IngestRpc>;

export interface WriterStats extends IngestStats {
  /** Events waiting to be published. */
  readonly outbox: EventSpan;
  readonly size: IndexSize;
  /** Why the last write to the index failed; null after a success. */
  readonly writeFault: string | null;
}

/** The writer of the index. The queue's engine writes with the connection `db`. */
export interface Writer {
  readonly db: IndexDatabase;
  readonly engine: IngestEngine;
  readonly queue: IngestQueue;
  readonly bound: SizeBound;
  /** Raised by each commit that writes events. */
  readonly newEvents: EventSignal;
  /** Raised by each commit that logs hub events. */
  readonly newHubEvents: EventSignal;
  readonly retention: LogRetention;
}

/** Serves the writer. Records go through the queue; everything else is written directly, between two of its commits. */
export function serveIngest(port: MessagePort, writer: Writer): void {
  const { db, engine, queue, bound, newEvents, newHubEvents, retention } = writer;
  serveRpc<IngestRpc>(port, {
    submit: (records) => submit(queue, records),
    relay: (batch) => relay(engine, batch),
    hasRoom: () => !bound.isFull(),
    buildStep: () => engine.buildStep(),
    storeRankings: (snapshot) => storeRankings(db, snapshot),
    storeTopics: (ranking) => storeTopics(db, ranking),
    writeScores: (step) => writeScores(db, step),
    async awaitEvents(afterSeq) {
      while (!hasEventsAfter(db, afterSeq)) await newEvents.next();
    },
    async awaitHubEvents(afterSeq) {
      while (!hasHubEventsAfter(db, afterSeq)) await newHubEvents.next();
    },
    heartbeat: () => engine.heartbeat(),
    markPublished: (upToSeq) => retention.markPublished(upToSeq),
    stats: () => ({
      ...queue.stats(),
      outbox: outboxBacklog(db),
      size: bound.size(),
      writeFault: db.writeFault?.reason ?? null,
    }),
  });
}

function relay(engine: IngestEngine, batch: RelayedBatch): boolean {
  try {
    engine.applyRelayed(batch);
    return true;
  } catch (cause) {
    if (cause instanceof IndexFullError) return false;
    throw cause;
  }
}

async function submit(queue: IngestQueue, records: readonly EncodedRecord[]): Promise<MergeOutcome[]> {
  const decoded = records.map(decodeRecord);
  const outcomes = await queue.submit(decoded.flatMap((record) => (record.ok ? [record.value] : [])));
  let next = 0;
  return decoded.map((record): MergeOutcome => (record.ok ? outcomes[next++] : record.error));
}

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
