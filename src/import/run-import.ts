import { stat } from "node:fs/promises";
import type { PositionMove } from "../ingest/engine.ts";
import type { EncodedRecord } from "../ingest/record.ts";
import type { Clock } from "../process/clock.ts";
import { Rejection } from "../protocol/rejection.ts";
import type { ImportProgress } from "./progress.ts";
import { type FileEnd, type FileRecord, readRecords } from "./record-reader.ts";
import { type ImportPositions, ResumePoint } from "./resume.ts";
import { ImportSummary, type SummaryReport } from "./summary.ts";

/** What takes in the records of a file. */
export interface ImportSink {
  /**
   * Validates and merges records; resolves with their verdicts, in order, once all of it is durable. The positions
   * move in the transaction of the records, so that after a crash neither is there without the other. `records` may be
   * empty when only positions move.
   */
  apply(
    records: readonly EncodedRecord[],
    moves: readonly PositionMove[],
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
}

export interface ImportReport {
  /** Where this run began and where the next one would. */
  readonly fromOffset: number;
  readonly toOffset: number;
  readonly outcome: FileEnd["outcome"] | "stopped";
  /** What there is at `toOffset`, in words. */
  readonly detail: string;
  readonly summary: SummaryReport;
  readonly elapsedMs: number;
}

const MAX_BATCH_RECORDS = 500;
const MAX_BATCH_BYTES = 2 * 1024 * 1024;

/**
 * Imports a file of length-delimited records, from where an earlier import of it ended. A record that is refused is
 * counted and passed; only bytes that cannot be told apart into records end the reading early. Throws what the file
 * system or the sink throws; what was committed by then stays, and the next run goes on behind it.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const { path, sink, positions, clock, onProgress, signal } = options;
  const startedAtMs = clock.nowMs();
  const point = await ResumePoint.find(path, positions);
  const fromOffset = point.offset;
  const summary = new ImportSummary();
  let batch: FileRecord[] = [];
  let batchBytes = 0;

  const commit = async () => {
    if (batch.length === 0) return;
    for (const { raw } of batch) point.advance(raw);
    await applyBatch(batch, sink, point.moves(), summary);
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
  const report = (outcome: ImportReport["outcome"], detail: string): ImportReport => ({
    fromOffset,
    toOffset: point.offset,
    outcome,
    detail,
    summary: summary.report(),
    elapsedMs: clock.nowMs() - startedAtMs,
  });

  for await (const step of readRecords(path, { fromOffset })) {
    if (step.kind === "end") {
      await commit();
      return report(step.outcome, step.detail);
    }
    batch.push(step);
    batchBytes += step.raw.length;
    if (batch.length < MAX_BATCH_RECORDS && batchBytes < MAX_BATCH_BYTES) continue;
    await commit();
    if (signal?.aborted) break;
  }
  return report("stopped", `at byte ${point.offset}: stopped before the end of the file`);
}

async function applyBatch(
  batch: readonly FileRecord[],
  sink: ImportSink,
  moves: readonly PositionMove[],
  summary: ImportSummary,
): Promise<void> {
  const records = batch.flatMap(({ content }) => (content instanceof Rejection ? [] : [content]));
  const verdicts = await sink.apply(records, moves);
  let next = 0;
  for (const { offset, content } of batch) {
    const verdict = content instanceof Rejection ? content : verdicts[next++];
    if (verdict) summary.refuse(offset, verdict);
    else if (!(content instanceof Rejection)) summary.accept(content.kind);
  }
}
