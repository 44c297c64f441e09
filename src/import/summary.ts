import type { BulkProgress } from "../db/index/bulk/bulk-state.ts";
import type { RecordKind } from "../ingest/record.ts";
import type { Rejection, RejectionCode } from "../protocol/rejection.ts";
import { formatDuration, grouped, percentOf, progressLine } from "../runtime/progress-line.ts";

/** One refused record, as an example for the operator. */
export interface RefusedExample {
  /** Offset of the record in the file. */
  readonly offset: number;
  readonly reason: string;
}

/** Refusals with the same code and the same reason, apart from numbers and names in the reason. */
export interface RefusalClass {
  readonly code: RejectionCode;
  readonly reason: string;
  readonly count: number;
  readonly examples: readonly RefusedExample[];
}

export interface SummaryReport {
  readonly accepted: Readonly<Record<RecordKind, number>>;
  /** Number of records that were already stored. */
  readonly known: number;
  readonly refused: number;
  /** Most frequent first. */
  readonly refusals: readonly RefusalClass[];
}

const MAX_CLASSES = 64;
const MAX_EXAMPLES = 3;
const MAX_REASON_LENGTH = 160;
const OTHER_REASONS = "other reasons";

/** Counts the outcomes of the records of an import. Its size is bounded, whatever the file contains. */
export class ImportSummary {
  readonly #accepted: Record<RecordKind, number> = { message: 0, onChainEvent: 0, usernameProof: 0 };
  readonly #classes = new Map<string, RefusalClass & { count: number; examples: RefusedExample[] }>();
  #known = 0;
  #refused = 0;

  /** Number of records so far, including refused ones. */
  get records(): number {
    const { message, onChainEvent, usernameProof } = this.#accepted;
    return message + onChainEvent + usernameProof + this.#known + this.#refused;
  }

  get refused(): number {
    return this.#refused;
  }

  accept(kind: RecordKind): void {
    this.#accepted[kind]++;
  }

  refuse(offset: number, { code, reason }: Rejection): void {
    if (code === "bad_request.duplicate") {
      this.#known++;
      return;
    }
    this.#refused++;
    const found = this.#classOf(code, reasonClass(reason));
    found.count++;
    if (found.examples.length < MAX_EXAMPLES) found.examples.push({ offset, reason: shorten(reason) });
  }

  report(): SummaryReport {
    return {
      accepted: { ...this.#accepted },
      known: this.#known,
      refused: this.#refused,
      refusals: [...this.#classes.values()].sort((a, b) => b.count - a.count),
    };
  }

  #classOf(code: RejectionCode, reason: string) {
    const name = this.#classes.size < MAX_CLASSES ? reason : OTHER_REASONS;
    const found = this.#classes.get(`${code} ${reason}`) ??
      this.#classes.get(`${code} ${name}`) ?? { code, reason: name, count: 0, examples: [] };
    this.#classes.set(`${code} ${found.reason}`, found);
    return found;
  }
}

/** Formats a summary as lines for a terminal. */
export function formatSummary(report: SummaryReport): string[] {
  const { accepted, known, refused, refusals } = report;
  const lines = [
    `${count(accepted.message)} messages, ${count(accepted.onChainEvent)} on-chain events and ${count(accepted.usernameProof)} username proofs accepted`,
  ];
  if (known > 0) lines.push(`${count(known)} known already`);
  if (refused === 0) return lines;
  lines.push(`${count(refused)} refused:`);
  for (const refusal of refusals) {
    lines.push(`  ${count(refusal.count)} x ${refusal.code}: ${refusal.reason}`);
    for (const { offset, reason } of refusal.examples) lines.push(`    at byte ${offset}: ${reason}`);
  }
  return lines;
}

/** Returns a reason without the hex, numbers and quoted text that differ between records. */
export function reasonClass(reason: string): string {
  return shorten(reason)
    .replace(/"[^"]*"/g, '"…"')
    .replace(/\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|\b\d+\b/gi, "…");
}

function shorten(reason: string): string {
  return reason.length <= MAX_REASON_LENGTH ? reason : `${reason.slice(0, MAX_REASON_LENGTH - 1)}…`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

export interface ImportProgress {
  /** Imported bytes of the file, including those of earlier runs. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Offset at which this run started. */
  readonly startedAtBytes: number;
  /** Number of records in this run. */
  readonly records: number;
  readonly elapsedMs: number;
  /** Set while the index is built from the records of the file. */
  readonly stage?: BulkProgress;
}

/** Formats a bar, percentage, records per second and time left, as far as they fit into `columns` columns. */
export function formatProgress(progress: ImportProgress, columns: number): string {
  if (progress.stage) {
    const { stage, done } = progress.stage;
    return progressLine(done, [`building the index: ${stage}  ${percentOf(done)}`, percentOf(done)], columns);
  }
  const share = shareDone(progress);
  const percent = percentOf(share);
  const perSec = progress.elapsedMs > 0 ? (progress.records / progress.elapsedMs) * 1000 : 0;
  const rate = `${grouped(perSec)}/s`;
  const records = `${grouped(progress.records)} records`;
  const left = `${formatDuration(timeLeftMs(progress))} left`;
  const texts = [[percent, records, rate, left], [percent, rate, left], [percent, left], [percent]];
  return progressLine(
    share,
    texts.map((parts) => parts.join("  ")),
    columns,
  );
}

/** Returns the imported share of the file, from 0 to 1. */
export function shareDone({ doneBytes, totalBytes }: ImportProgress): number {
  return totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 1;
}

/** Estimates the time left from the speed of this run; undefined before its first record. */
function timeLeftMs(progress: ImportProgress): number | undefined {
  const { doneBytes, totalBytes, startedAtBytes, elapsedMs } = progress;
  const leftBytes = Math.max(0, totalBytes - doneBytes);
  if (leftBytes === 0) return 0;
  const ownBytes = doneBytes - startedAtBytes;
  return ownBytes > 0 ? (elapsedMs / ownBytes) * leftBytes : undefined;
}
