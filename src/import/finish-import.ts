import type { BulkProgress } from "../db/index/bulk/bulk-build.ts";
import type { Clock } from "../runtime/clock.ts";
import type { ImportSink } from "./import-sink.ts";
import type { ImportProgress } from "./progress.ts";
import { ImportSummary, type SummaryReport } from "./summary.ts";

/** Whether the index is built; `stopped` by the signal; `unstored` if a record could not be stored. */
export type FinishOutcome = "finished" | "stopped" | "unstored";

interface FinishingDeps {
  readonly sink: Pick<ImportSink, "buildStep" | "applyDeferred">;
  readonly summary: ImportSummary;
  readonly report: (stage?: BulkProgress) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Builds the index from the records of an import and merges those that wait for that. Each step can be the last. */
export async function finishIndex({ sink, summary, report, signal }: FinishingDeps): Promise<FinishOutcome> {
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

/** Lets signals arrive. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export interface FinishOptions {
  readonly sink: ImportSink;
  readonly clock: Clock;
  readonly onProgress?: (progress: ImportProgress) => void;
  readonly signal?: AbortSignal;
}

export interface FinishReport {
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
