import { type BulkProgress, bulkPhaseOf, canBulkBuild } from "../db/index/bulk/bulk-state.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import type { PositionUpdate } from "../db/index/positions.ts";
import type { DeferredOutcome } from "../ingest/bulk/apply-deferred.ts";
import { areDeferred } from "../ingest/bulk/deferred-records.ts";
import type { ImportedBatch, SpoolOutcome } from "../ingest/bulk/import-spool.ts";
import type { ValidatedRecords, Verifier } from "../ingest/bulk/verify/verifier.ts";
import type { IngestEngine } from "../ingest/engine.ts";
import { decodeRecord, type EncodedRecord } from "../ingest/record.ts";

/** Validates and stores the records of a file. */
export type ImportSink = ReturnType<typeof createImportSink>;

export interface ImportSinkOptions {
  readonly db: IndexDatabase;
  readonly engine: IngestEngine;
  readonly verifier: Verifier;
  /** Size of the file. */
  readonly fileBytes: number;
  /** Smaller files are imported row by row. Default: the size of a few thousand messages. */
  readonly minBulkBytes?: number;
}

const MIN_BULK_BYTES = 1024 * 1024;
/** Few messages are shorter. */
const BYTES_PER_MESSAGE = 120;

/**
 * Returns a sink that validates and merges the records of a file like any other input. If the index has no messages yet, it uses the bulk
 * build. It does not check what only Ethereum can confirm (ENS names, contract wallets), nor the age limit of storage lends: the operator
 * vouches for the file.
 */
export function createImportSink(options: ImportSinkOptions) {
  const { db, engine, verifier, fileBytes, minBulkBytes = MIN_BULK_BYTES } = options;
  const isLarge = fileBytes >= minBulkBytes;
  const expectedMessages = Math.ceil(fileBytes / BYTES_PER_MESSAGE);

  function isSpooling(): boolean {
    if (engine.hasSpoolEnded) return false;
    const phase = bulkPhaseOf(db);
    return phase === "spooling" || (phase === undefined && isLarge && canBulkBuild(db) && !areDeferred(db));
  }

  return {
    /** Validates records. Later batches are validated while earlier ones are applied. */
    validate: (records: readonly EncodedRecord[]): Promise<ValidatedRecords> =>
      verifier.validateRecords(records, { collectsCandidates: isSpooling() }),
    /**
     * Merges the valid records of a batch. Resolves with the outcomes of all records, in order, once they are durable. The positions are
     * written in the same transaction, but not if the outcome of a record is `unavailable`, because that record is not stored. The batch
     * may be empty. A record with the outcome `deferred` is stored and merged later by `applyDeferred`.
     */
    async apply(
      batch: ImportedBatch,
      positions: readonly PositionUpdate[],
    ): Promise<readonly SpoolOutcome[]> {
      if (isSpooling()) return engine.spoolImport(batch, positions, expectedMessages);
      const { records, validated } = batch;
      const decoded = records
        .filter((_, at) => !validated.refusals.has(at))
        .map(({ record }) => {
          const result = decodeRecord(record);
          if (!result.ok) throw new Error(`a valid record cannot be decoded: ${result.error.reason}`);
          return result.value;
        });
      const outcomes = engine.applyResumable(decoded, positions, { isHistory: true });
      let applied = 0;
      return records.map((_, at) => validated.refusals.get(at) ?? outcomes[applied++]);
    },
    /** Reports whether `buildStep` and `applyDeferred` must run before the next batch or, if `isAtEnd`, after the last one. */
    isToFinish: (isAtEnd: boolean): boolean =>
      isAtEnd || !isSpooling() ? bulkPhaseOf(db) !== undefined || areDeferred(db) : false,
    /** Makes durable what `apply` has stored. */
    sync: (): void => engine.syncSpool(),
    /** Runs the next step of the bulk build. Returns undefined once the index is built. */
    buildStep: (): BulkProgress | undefined => engine.buildStep(),
    /** Merges the next deferred records after the build. Returns undefined if there are no more. */
    applyDeferred: (): DeferredOutcome[] | undefined => engine.applyDeferred(),
  };
}
