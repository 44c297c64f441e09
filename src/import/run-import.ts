import { stat } from "node:fs/promises";
import type { PositionUpdate } from "../ingest/engine.ts";
import type { EncodedRecord } from "../ingest/record.ts";
import { reasonOf } from "../lib/failure.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ImportProgress } from "./progress.ts";
import { type FileEnd, type FileRecord, readRecords } from "./record-reader.ts";
import { type ImportPositions, ResumePoint } from "./resume.ts";
import { ImportSummary, type SummaryReport } from "./summary.ts";

/** Stores the records of a file. */
export interface ImportSink {
  /**
   * Validates and merges records. Resolves with their outcomes, in order, once they are durable. The positions are
   * written in the transaction of the records. They are not written if the outcome of a record is `unavailable`: that
   * record is not stored. `records` may be empty.
   */
  apply(
    records: readonly EncodedRecord[],
    positions: readonly PositionUpdate[],
  ): Promise<readonly (Rejection | undefined)[]>;
}

export interface ImportOptions {
  readonly path: string;
  readonly sink: ImportSink;
  readonly positions: ImportPositions;
  readonly clock: Clock;
  /** Called after every batch. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Ends the import after the running batch. */
  readonly signal?: AbortSignal;
  /** Maximum records of one transaction; a default if omitted. */
  readonly batchRecords?: number;
}

export interface ImportReport {
  /** The offsets at which this run started and the next one will. */
  readonly fromOffset: number;
  readonly toOffset: number;
  /** `unstored`: the whole file was read, but some of its records could not be stored. */
  readonly outcome: FileEnd["outcome"] | "stopped" | "unstored";
  /** Describes `toOffset`, for people. */
  readonly detail: string;
  readonly summary: SummaryReport;
  readonly elapsedMs: number;
}

/** An import failed. What the report counts is stored, and the next run resumes at its `toOffset`. */
export class ImportInterrupted extends Error {
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
 * Imports a file of length-delimited records, from the position at which an earlier import of it ended. A refused record
 * is counted and skipped; only bytes that cannot be split into records end the import early. The position never moves past
 * a record that was not stored: the rest of the file is still imported, and the next run starts at the batch of the first
 * such record.
 *
 * @throws ImportInterrupted for any error of the file system or the sink.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const { path, sink, positions, clock, onProgress, signal, batchRecords = MAX_BATCH_RECORDS } = options;
  const startedAtMs = clock.nowMs();
  const summary = new ImportSummary();
  const point = await ResumePoint.find(path, positions);
  const fromOffset = point.offset;
  let toOffset = fromOffset;
  let hasUnstored = false;
  let batch: FileRecord[] = [];
  let batchBytes = 0;

  const commit = async () => {
    if (batch.length === 0) return;
    for (const { raw } of batch) point.advance(raw);
    const isStored = await applyBatch(batch, sink, hasUnstored ? [] : point.positionUpdates(), summary);
    hasUnstored ||= !isStored;
    if (!hasUnstored) toOffset = point.offset;
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
  const currentReport = () => ({
    fromOffset,
    toOffset,
    summary: summary.report(),
    elapsedMs: clock.nowMs() - startedAtMs,
  });

  try {
    for await (const step of readRecords(path, { fromOffset })) {
      if (step.kind === "end") {
        await commit();
        if (!hasUnstored) return { ...currentReport(), outcome: step.outcome, detail: step.detail };
        const detail = `at byte ${toOffset}: a record after it could not be stored`;
        return { ...currentReport(), outcome: "unstored", detail };
      }
      batch.push(step);
      batchBytes += step.raw.length;
      if (batch.length < batchRecords && batchBytes < MAX_BATCH_BYTES) continue;
      await commit();
      if (signal?.aborted) break;
    }
  } catch (cause) {
    throw new ImportInterrupted(currentReport(), cause);
  }
  return {
    ...currentReport(),
    outcome: "stopped",
    detail: `at byte ${toOffset}: stopped before the end of the file`,
  };
}

/** Applies a batch. Returns whether every record of it was stored or refused permanently. */
async function applyBatch(
  batch: readonly FileRecord[],
  sink: ImportSink,
  positions: readonly PositionUpdate[],
  summary: ImportSummary,
): Promise<boolean> {
  const records = batch.flatMap(({ content }) => (content.ok ? [content.value] : []));
  const outcomes = await sink.apply(records, positions);
  let next = 0;
  for (const { offset, content } of batch) {
    const outcome = content.ok ? outcomes[next++] : content.error;
    if (outcome) summary.refuse(offset, outcome);
    else if (content.ok) summary.accept(content.value.kind);
  }
  return !outcomes.some((outcome) => outcome?.code === "unavailable");
}
