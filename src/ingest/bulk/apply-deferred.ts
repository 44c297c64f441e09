import type { IndexDatabase } from "../../db/index/database.ts";
import type { Admission } from "../index-writer.ts";
import { decodeRecord, type IngestRecord, type MergeOutcome, type RecordKind } from "../record.ts";
import { deferredAfter, dropDeferred } from "./deferred-records.ts";

const DEFERRED_PER_COMMIT = 500;

/** The outcome of a record that was deferred. */
export interface DeferredOutcome {
  readonly offset: number;
  readonly kind: RecordKind;
  readonly outcome: MergeOutcome;
}

/** Merges the next deferred records with `apply`, in one commit. Returns their outcomes, or undefined if there are no more. */
export function applyDeferred(
  db: IndexDatabase,
  apply: (
    records: readonly IngestRecord[],
    positions: readonly [],
    options: Admission & { readonly alongside: () => void },
  ) => MergeOutcome[],
): DeferredOutcome[] | undefined {
  const page = deferredAfter(db, -1, DEFERRED_PER_COMMIT);
  const isAdmitted = page[0]?.isAdmitted ?? false;
  const end = page.findIndex((one) => one.isAdmitted !== isAdmitted);
  const batch = end < 0 ? page : page.slice(0, end);
  const last = batch.at(-1);
  if (!last) return undefined;
  const records = batch.map(({ record }) => {
    const decoded = decodeRecord(record);
    if (!decoded.ok) throw new Error(`a deferred record cannot be decoded: ${decoded.error.reason}`);
    return decoded.value;
  });
  const alongside = () => dropDeferred(db, last.number);
  const outcomes = apply(records, [], { isHistory: true, isAdmitted, alongside });
  return batch.map(({ offset, record: { kind } }, at) => ({ offset, kind, outcome: outcomes[at] }));
}
