import { stat } from "node:fs/promises";
import { refuseDatabase } from "../config/files/small-file.ts";
import type { BulkProgress } from "../db/index/bulk/bulk-state.ts";
import type { ImportedRecord, SpoolOutcome } from "../ingest/bulk/import-spool.ts";
import type { ValidatedRecords } from "../ingest/bulk/verify/verifier.ts";
import { reasonOf } from "../lib/failure.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ImportSink } from "./import-sink.ts";
import { bytesOf, type FileEnd, type FileRecord, readRecords } from "./record-file.ts";
import { type ImportPositions, ResumePoint } from "./resume.ts";
import { type ImportProgress, ImportSummary, type SummaryReport } from "./summary.ts";

export interface ImportOptions {
  readonly path: string;
  readonly sink: ImportSink;
  readonly positions: ImportPositions;
  readonly clock: Clock;
  /** Called after every batch. */
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Ends the import after the current batch. */
  readonly signal?: AbortSignal;
  /** Maximum number of records per transaction. Has a default. */
  readonly batchRecords?: number;
}

export interface ImportReport {
  /** Offsets at which this run started and at which the next one will start. */
  readonly fromOffset: number;
  readonly toOffset: number;
  /** `unstored`: the whole file was read, but some of its records could not be stored. */
  readonly outcome: FileEnd["outcome"] | "stopped" | "unstored";
  /** Describes `toOffset` for the operator. */
  readonly detail: string;
  readonly summary: SummaryReport;
  readonly elapsedMs: number;
}

/** An import failed. The records that the report counts are stored, and the next run resumes at its `toOffset`. */
export class ImportInterrupted extends Error {
  override name = "ImportInterrupted";

  constructor(
    readonly report: Omit<ImportReport, "outcome" | "detail">,
    cause: unknown,
  ) {
    super(reasonOf(cause), { cause });
  }
}

const MAX_BATCH_RECORDS = 1000;
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** Maximum number of batches that are validated while earlier ones are applied. */
const MAX_BATCHES_AHEAD = 8;

/** A batch whose records are being validated. */
interface ValidatedBatch {
  readonly batch: readonly FileRecord[];
  /** The readable records. */
  readonly records: readonly ImportedRecord[];
  readonly validated: Promise<ValidatedRecords>;
}

/**
 * Imports a file of length-delimited records, from the position at which an earlier import of it ended. A refused record
 * is counted and skipped; only bytes that cannot be split into records end the import early. The position never moves past
 * a record that was not stored: the rest of the file is still imported, and the next run starts at the batch of the first
 * such record.
 *
 * @throws UserError for a database; ImportInterrupted for any error of the file system or the sink.
 */
export async function runImport(options: ImportOptions): Promise<ImportReport> {
  const { path, sink, positions, clock, onProgress, signal, batchRecords = MAX_BATCH_RECORDS } = options;
  const startedAtMs = clock.nowMs();
  const summary = new ImportSummary();
  refuseDatabase(path);
  const point = await ResumePoint.find(path, positions);
  const fromOffset = point.offset;
  const { size } = await stat(path);
  let toOffset = fromOffset;
  let hasUnstored = false;
  const ahead: ValidatedBatch[] = [];
  let batch: FileRecord[] = [];
  let batchBytes = 0;

  const validate = () => {
    if (batch.length === 0) return;
    const records = batch.flatMap(({ content, offset }) =>
      content.ok ? [{ record: content.value, offset }] : [],
    );
    const validated = sink.validate(records.map(({ record }) => record));
    // The error is thrown when the batch is committed.
    validated.catch(() => {});
    ahead.push({ batch, records, validated });
    batch = [];
    batchBytes = 0;
  };
  /** Returns whether another batch may be committed. */
  const commitOldest = async (): Promise<boolean> => {
    const oldest = ahead.shift();
    if (!oldest) return true;
    const { batch, records } = oldest;
    const validated = await oldest.validated;
    for (const bytes of bytesOf(batch)) point.advance(bytes);
    const outcomes = await sink.apply({ records, validated }, hasUnstored ? [] : point.positionUpdates());
    hasUnstored ||= countOutcomes(summary, batch, outcomes);
    if (!hasUnstored) toOffset = point.offset;
    report();
    return await finish(false);
  };
  const report = (stage?: BulkProgress) => {
    onProgress?.({
      ...(stage && { stage }),
      doneBytes: point.offset,
      totalBytes: Math.max(point.offset, size),
      startedAtBytes: fromOffset,
      records: summary.records,
      elapsedMs: clock.nowMs() - startedAtMs,
    });
  };
  /** Builds the index and merges deferred records, if this must happen now. Returns whether it has finished. */
  const finish = async (isAtEnd: boolean): Promise<boolean> => {
    if (!sink.isToFinish(isAtEnd)) return true;
    const outcome = await finishIndex({ sink, summary, report, signal });
    hasUnstored ||= outcome === "unstored";
    return outcome === "finished";
  };
  const currentReport = () => {
    sink.sync();
    return { fromOffset, toOffset, summary: summary.report(), elapsedMs: clock.nowMs() - startedAtMs };
  };
  const unfinished = (): ImportReport => ({
    ...currentReport(),
    outcome: hasUnstored ? "unstored" : "stopped",
    detail: `at byte ${toOffset}: the index is not built yet`,
  });

  try {
    // Deferred records must be merged before any other.
    if (!(await finish(false))) return unfinished();
    for await (const step of readRecords(path, { fromOffset })) {
      if (step.kind === "end") {
        validate();
        while (ahead.length > 0 && !signal?.aborted) if (!(await commitOldest())) return unfinished();
        if (ahead.length > 0) break;
        if (!(await finish(true)) && !hasUnstored) break;
        if (!hasUnstored) return { ...currentReport(), outcome: step.outcome, detail: step.detail };
        const detail = `at byte ${toOffset}: a record after it could not be stored`;
        return { ...currentReport(), outcome: "unstored", detail };
      }
      batch.push(step);
      batchBytes += step.endOffset - step.offset;
      if (batch.length < batchRecords && batchBytes < MAX_BATCH_BYTES) continue;
      validate();
      if (ahead.length > MAX_BATCHES_AHEAD && !(await commitOldest())) return unfinished();
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

/** Counts the outcomes of a batch's readable records, and its unreadable ones. Returns whether a record could not be stored. */
function countOutcomes(
  summary: ImportSummary,
  batch: readonly FileRecord[],
  outcomes: readonly SpoolOutcome[],
): boolean {
  let hasUnstored = false;
  let readable = 0;
  for (const { offset, content } of batch) {
    const outcome = content.ok ? outcomes[readable++] : content.error;
    if (outcome === "deferred") continue;
    if (outcome) summary.refuse(offset, outcome);
    else if (content.ok) summary.accept(content.value.kind);
    hasUnstored ||= content.ok && outcome?.code === "unavailable";
  }
  return hasUnstored;
}

/** `finished`: the index is built; `stopped`: by the signal; `unstored`: a record could not be stored. */
type FinishOutcome = "finished" | "stopped" | "unstored";

interface FinishingDeps {
  readonly sink: Pick<ImportSink, "buildStep" | "applyDeferred">;
  readonly summary: ImportSummary;
  readonly report: (stage?: BulkProgress) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Builds the index from the records of an import, then merges the deferred ones. Can be stopped after each step. */
async function finishIndex({ sink, summary, report, signal }: FinishingDeps): Promise<FinishOutcome> {
  for (let stage = sink.buildStep(); stage; stage = sink.buildStep()) {
    report(stage);
    await nextTurn();
    if (signal?.aborted) return "stopped";
  }
  for (let outcomes = sink.applyDeferred(); outcomes; outcomes = sink.applyDeferred()) {
    for (const { offset, kind, outcome } of outcomes) {
      if (outcome) summary.refuse(offset, outcome);
      else summary.accept(kind);
    }
    report();
    if (outcomes.some(({ outcome }) => outcome?.code === "unavailable")) return "unstored";
    await nextTurn();
    if (signal?.aborted) return "stopped";
  }
  return "finished";
}

/** Yields to the event loop, so that signals are delivered. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

interface FinishOptions {
  readonly sink: ImportSink;
  readonly clock: Clock;
  readonly onProgress?: (progress: ImportProgress) => void;
  readonly signal?: AbortSignal;
}

interface FinishReport {
  readonly outcome: FinishOutcome;
  readonly summary: SummaryReport;
}

/** Finishes the index with what an interrupted import has stored, without the rest of its file. */
export async function finishImport({
  sink,
  clock,
  onProgress,
  signal,
}: FinishOptions): Promise<FinishReport> {
  const startedAtMs = clock.nowMs();
  const summary = new ImportSummary();
  const report = (stage?: BulkProgress) =>
    onProgress?.({
      ...(stage && { stage }),
      doneBytes: 0,
      totalBytes: 0,
      startedAtBytes: 0,
      records: summary.records,
      elapsedMs: clock.nowMs() - startedAtMs,
    });
  const outcome = sink.isToFinish(true)
    ? await finishIndex({ sink, summary, report, signal })
    : ("finished" as const);
  sink.sync();
  return { outcome, summary: summary.report() };
}
