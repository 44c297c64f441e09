import { stat } from "node:fs/promises";
import type { PositionUpdate } from "../ingest/engine.ts";
import type { EncodedRecord } from "../ingest/record.ts";
import { reasonOf } from "../lib/failure.ts";
import { Rejection } from "../protocol/rejection.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ImportProgress } from "./progress.ts";
import { type FileEnd, type FileRecord, readRecords } from "./record-reader.ts";
import { type ImportPositions, ResumePoint } from "./resume.ts";
import { ImportSummary, type SummaryReport } from "./summary.ts";

/** What takes in the records of a file. */
export interface ImportSink {
  /**
   * Validates and merges records; resolves with their outcomes, in order, once all of it is durable. The positions
   * move in the transaction of the records, so that after a crash neither is there without the other. They do not move
   * when the outcome of a record is `unavailable`: that one is not stored. `records` may be empty when only positions
   * move.
   */
  apply(
    records: readonly EncodedRecord[],
    moves: readonly PositionUpdate[],
  ): Promise<readonly (Rejection | undefined)[]>;
}

export interface ImportOptions {
  readonly path: string;
  readonly sink: ImportSink;
  readonly positions: ImportPositions;
  readonly clock: Clock;
  /** Called after every batch. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Ends the import after the batch that is under way. */
  readonly signal?: AbortSignal;
  /** Records of one transaction; the service's own number when left out. */
  readonly batchRecords?: number;
}

export interface ImportReport {
  /** Where this run began and where the next one would. */
  readonly fromOffset: number;
  readonly toOffset: number;
  /** `unstored`: all of the file was read, and the node failed to store some records of it. */
  readonly outcome: FileEnd["outcome"] | "stopped" | "unstored";
  /** What there is at `toOffset`, in words. */
  readonly detail: string;
  readonly summary: SummaryReport;
  readonly elapsedMs: number;
}

/** An import broke off. What the report counts is stored, and the next run goes on at its `toOffset`. */
export class ImportBrokeOff extends Error {
  override name = "ImportBrokeOff";

  constructor(
    readonly report: Omit<ImportReport, "outcome" | "detail">,
    cause: unknown,
  ) {
    super(reasonOf(cause), { cause });
  }
}

const MAX_BATCH_RECORDS = 500;
const MAX_BATCH_BYTES = 2 * 1024 * 1024;

/**
 * Imports a file of length-delimited records, from where an earlier import of it ended. A record that is refused is
 * counted and passed; only bytes that cannot be told apart into records end the reading early. The position never moves
 * past a record that was not stored: behind the first such record the rest of the file is still taken in, and the next run
 * begins at the batch of that record.
 *
 * @throws ImportBrokeOff for whatever the file system or the sink throws.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const { path, sink, positions, clock, onProgress, signal, batchRecords = MAX_BATCH_RECORDS } = options;
  const startedAtMs = clock.nowMs();
  const summary = new ImportSummary();
  const point = await ResumePoint.find(path, positions);
  const fromOffset = point.offset;
  let toOffset = fromOffset;
  let isHeldBack = false;
  let batch: FileRecord[] = [];
  let batchBytes = 0;

  const commit = async () => {
    if (batch.length === 0) return;
    for (const { raw } of batch) point.advance(raw);
    const isStored = await applyBatch(batch, sink, isHeldBack ? [] : point.moves(), summary);
    isHeldBack ||= !isStored;
    if (!isHeldBack) toOffset = point.offset;
    batch = [];
    batchBytes = 0;
    onProgress?.({
      doneBytes: point.offset,
      totalBytes: Math.max(point.offset, (await stat(path)).size),
      startedAtBytes: fromOffset,
      records: summary.records,
      elapsedMs: clock.nowMs() - startedAtMs,
    });
  };
  const figures = () => ({
    fromOffset,
    toOffset,
    summary: summary.report(),
    elapsedMs: clock.nowMs() - startedAtMs,
  });

  try {
    for await (const step of readRecords(path, { fromOffset })) {
      if (step.kind === "end") {
        await commit();
        if (!isHeldBack) return { ...figures(), outcome: step.outcome, detail: step.detail };
        const detail = `at byte ${toOffset}: a record behind it could not be stored`;
        return { ...figures(), outcome: "unstored", detail };
      }
      batch.push(step);
      batchBytes += step.raw.length;
      if (batch.length < batchRecords && batchBytes < MAX_BATCH_BYTES) continue;
      await commit();
      if (signal?.aborted) break;
    }
  } catch (cause) {
    throw new ImportBrokeOff(figures(), cause);
  }
  return {
    ...figures(),
    outcome: "stopped",
    detail: `at byte ${toOffset}: stopped before the end of the file`,
  };
}

/** Applies a batch; returns whether every record of it was stored or refused for good. */
async function applyBatch(
  batch: readonly FileRecord[],
  sink: ImportSink,
  moves: readonly PositionUpdate[],
  summary: ImportSummary,
): Promise<boolean> {
  const records = batch.flatMap(({ content }) => (content instanceof Rejection ? [] : [content]));
  const outcomes = await sink.apply(records, moves);
  let next = 0;
  for (const { offset, content } of batch) {
    const outcome = content instanceof Rejection ? content : outcomes[next++];
    if (outcome) summary.refuse(offset, outcome);
    else if (!(content instanceof Rejection)) summary.accept(content.kind);
  }
  return !outcomes.some((outcome) => outcome?.code === "unavailable");
}
