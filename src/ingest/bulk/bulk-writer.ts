import {
  type BulkBuild,
  type BulkProgress,
  isBulkBuilding,
  type PackedMessages,
} from "../../db/index/bulk/bulk-state.ts";
import { openBulkBuild } from "../../db/index/bulk/open-bulk-build.ts";
import { addSpooledFid, putSpooledPart } from "../../db/index/bulk/spool-tables.ts";
import { type PositionUpdate, putPosition } from "../../db/index/positions.ts";
import { StorageError } from "../../db/sqlite/storage-error.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import { causeOf } from "../events.ts";
import type { IndexWriter, IndexWriterDeps } from "../index-writer.ts";
import { applySpooledOp } from "../relay.ts";
import { writeProgress } from "../relay-progress.ts";
import { type RelayedBatch, type SingleOp, singleOps } from "../relayed-op.ts";
import { storeSnapshotKeys } from "../trie/snapshot-keys.ts";
import { type ImportedBatch, ImportSpool, type SpoolOutcome } from "./import-spool.ts";

/** Fills an empty index with the bulk build. */
export function createBulkWriter({ db, network, onFault }: IndexWriterDeps, writer: IndexWriter) {
  const { counts, totals, changes, newContext, flush, discard } = writer;
  /** Opened with the first batch, and deleted when the index is built. */
  let bulk: BulkBuild | undefined;
  let importSpool: ImportSpool | undefined;

  /** Applies a batch from the upstream whose messages go to the spool. Skips each operation that causes a fault. */
  function spoolRelayed(batch: RelayedBatch, messages: readonly PackedMessages[]): void {
    // Repeats the transaction without each operation that causes a fault.
    const skipped = new Set<SingleOp>();
    bulk ??= openBulkBuild(db);
    for (;;) {
      let current: SingleOp | undefined;
      try {
        bulk.append(messages, () => {
          const context = newContext();
          changes.start(true);
          for (const op of singleOps(batch.ops)) {
            if (skipped.has(op)) continue;
            current = op;
            applySpooledOp(context, totals, op);
          }
          current = undefined;
          flush();
          for (const fid of batch.spooledFids ?? []) addSpooledFid(db, fid);
          for (const part of batch.spooledParts ?? []) putSpooledPart(db, part);
          for (const keys of batch.snapshotKeys ?? []) storeSnapshotKeys(db, keys);
          writeProgress(db, batch, context.nowSecs);
        });
        return;
      } catch (cause) {
        discard();
        if (cause instanceof StorageError || current === undefined) throw cause;
        onFault(cause);
        skipped.add(current);
      }
    }
  }

  /** See `IngestEngine.spoolImport`. */
  function spoolImport(
    batch: ImportedBatch,
    positions: readonly PositionUpdate[],
    expectedMessages: number,
  ): SpoolOutcome[] {
    bulk ??= openBulkBuild(db);
    const faults = new Map<number, Rejection>();
    for (;;) {
      importSpool ??= new ImportSpool({ db, network, counts, expectedMessages });
      const spooling = importSpool;
      let current: number | undefined;
      let outcomes: SpoolOutcome[] = [];
      try {
        bulk.append(() => {
          const context = newContext();
          const taken = spooling.take(batch, {
            context,
            known: faults,
            onRecord: (at) => {
              current = at;
            },
            merge: (record) =>
              writer.withEvents(context, causeOf(record), () =>
                writer.applyOne(context, record, { isHistory: true }),
              ),
          });
          current = undefined;
          outcomes = taken.outcomes;
          flush();
          if (faults.size === 0) for (const { key, position } of positions) putPosition(db, key, position);
          return taken.rows;
        });
        return outcomes;
      } catch (cause) {
        discard();
        // It has decided on records that were not stored.
        importSpool = undefined;
        if (cause instanceof StorageError || current === undefined) throw cause;
        faults.set(current, writer.unstored(cause));
      }
    }
  }

  /** See `IngestEngine.buildStep`. */
  function step(): BulkProgress | undefined {
    if (!bulk && !isBulkBuilding(db)) return undefined;
    bulk ??= openBulkBuild(db);
    const progress = bulk.step();
    if (progress === undefined) {
      bulk = undefined;
      importSpool = undefined;
      db.forget();
      writer.forget();
    }
    return progress;
  }

  return {
    spoolRelayed,
    spoolImport,
    /** Whether the spool of an import accepts no more messages. */
    get hasEnded(): boolean {
      return importSpool?.allWait ?? false;
    },
    /** Makes all commits of the spool durable. */
    sync: (): void => bulk?.sync(),
    step,
  };
}
