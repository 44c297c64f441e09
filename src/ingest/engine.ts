import type { BulkProgress } from "../db/index/bulk/bulk-state.ts";
import { shardCount } from "../db/index/counts/totals.ts";
import { appendHubBlock } from "../db/index/log/hub-log.ts";
import type { BlockRef } from "../db/index/log/outbox.ts";
import { type PositionUpdate, putPosition } from "../db/index/positions.ts";
import { KindRoots } from "../db/index/trie/kind-roots.ts";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";
import { fidOfKey } from "../trust/trie-key.ts";
import { BlockKeys, startKeys } from "./block-keys.ts";
import { applyDeferred, type DeferredOutcome } from "./bulk/apply-deferred.ts";
import { createBulkWriter } from "./bulk/bulk-writer.ts";
import type { ImportedBatch, SpoolOutcome } from "./bulk/import-spool.ts";
import { causeOf } from "./events.ts";
import type { OwnHubLog } from "./hub-log/own-hub-log.ts";
import { type Admission, createIndexWriter, type IndexWriterDeps } from "./index-writer.ts";
import { messagesIn, willMerge } from "./merge/read-ahead.ts";
import type { IngestRecord, MergeOutcome } from "./record.ts";
import { applyRelayedOp, causeOfRelayed } from "./relay.ts";
import { markRelayedBlocks, opsWithBlocks, writeProgress } from "./relay-progress.ts";
import type { RelayedBatch, SingleOp } from "./relayed-op.ts";
import { INDEX_FULL, IndexFullError, type SizeBound } from "./size-bound.ts";
import { healAccount, NotHealedError } from "./trie/heal-account.ts";

export interface ApplyOptions extends Admission {
  /** Runs in the transaction that stores all of the records. */
  readonly alongside?: (() => void) | undefined;
}

export interface IngestEngineDeps extends IndexWriterDeps {
  /** Why the node takes no records at all; undefined if it takes them. */
  readonly refusal?: Rejection | undefined;
  /** The size limit of the index; undefined for none. */
  readonly bound?: SizeBound | undefined;
  /** The log of the hub events of records; undefined for records that are not logged, such as those of an import. */
  readonly hubLog?: OwnHubLog | undefined;
}

/** The writer of the index. Admits and merges validated records, one batch in one transaction. */
export type IngestEngine = ReturnType<typeof createIngestEngine>;

const CANNOT_LOG = rejection("unavailable", "the node cannot number its next block; try again");

export function createIngestEngine(deps: IngestEngineDeps) {
  const { db, network, onFault, refusal, hubLog, bound } = deps;
  const writer = createIndexWriter(deps);
  const bulk = createBulkWriter(deps, writer);
  const { write, withEvents, unstored } = writer;

  /**
   * Applies a batch in one commit. Returns the outcomes in the order of the records. A record that could not be stored is
   * `unavailable`: its sender tries again, and if it was stored after all, it is then a duplicate.
   */
  function apply(records: readonly IngestRecord[]): MergeOutcome[] {
    if (refusal) return records.map(() => refusal);
    if (hubLog && !hubLog.isReady()) return records.map(() => CANNOT_LOG);
    if (bound?.isFull()) return records.map(() => INDEX_FULL);
    try {
      return commitEach(records, [], {});
    } catch (cause) {
      const outcome = unstored(cause);
      return records.map(() => outcome);
    }
  }

  /**
   * Applies a batch of resumable work like `apply`, and writes its positions in the same transaction.
   *
   * If a record causes a fault, each record gets its own transaction, so that only the faulty record is `unavailable`. The
   * positions are then not written, because they never move past a record that was not stored.
   *
   * @throws IndexFullError when the index has reached its size limit, before anything is stored.
   * @throws StorageError if the database cannot be written. Some of the records may be stored. The positions have not
   *   moved, and the same batch can be applied again.
   */
  function applyResumable(
    records: readonly IngestRecord[],
    positions: readonly PositionUpdate[],
    options: ApplyOptions = {},
  ): MergeOutcome[] {
    requireRoom();
    return commitEach(records, positions, options);
  }

  function commitEach(
    records: readonly IngestRecord[],
    positions: readonly PositionUpdate[],
    options: ApplyOptions,
  ): MergeOutcome[] {
    try {
      return commit(records, positions, options);
    } catch (cause) {
      if (cause instanceof StorageError || records.length === 0) throw cause;
      if (records.length === 1) return [unstored(cause)];
    }
    let isAnyUnstored = false;
    const outcomes = records.map((record) => {
      try {
        return commit([record], [], { ...options, alongside: undefined })[0];
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        isAnyUnstored = true;
        return unstored(cause);
      }
    });
    if (!isAnyUnstored) commit([], positions, options);
    return outcomes;
  }

  /** Checks the size limit before each group of merges. */
  function requireRoom(): void {
    if (bound?.isFull()) throw new IndexFullError();
  }

  /**
   * Applies a batch of operations from the upstream in one transaction. An operation that causes a fault is reported and
   * skipped, so that one bad record does not stop the node from following.
   *
   * @throws IndexFullError when the index has reached its size limit, before anything is stored.
   * @throws StorageError if the database cannot be written. The positions have not moved, and the same batch can be
   *   applied again.
   */
  function applyRelayed(batch: RelayedBatch): void {
    if (batch.spooled) bound?.setPhase("spooling");
    requireRoom();
    if (batch.spooled || batch.healed) {
      if (batch.spooled) bulk.spoolRelayed(batch, batch.spooled);
      else heal(batch);
      return;
    }
    try {
      writeRelayed(batch);
      return;
    } catch (cause) {
      if (batch.ops.length === 0 || cause instanceof StorageError) throw cause;
    }
    for (const one of opsWithBlocks(batch)) {
      try {
        writeRelayed({ ops: [], positions: [], followsKeys: batch.followsKeys }, [one]);
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        onFault(cause);
      }
    }
    writeRelayed({ ...batch, ops: [] });
  }

  /** Applies a batch if it makes an account equal to the network's. Otherwise applies nothing. */
  function heal(batch: RelayedBatch): void {
    try {
      writeRelayed(batch);
    } catch (cause) {
      if (cause instanceof StorageError) throw cause;
      if (!(cause instanceof NotHealedError)) onFault(cause);
    }
  }

  function writeRelayed(
    batch: RelayedBatch,
    ops: Iterable<readonly [SingleOp, BlockRef | undefined]> = opsWithBlocks(batch),
  ): void {
    willMerge(db, () => messagesIn(batch.ops));
    write((context) => {
      const tracksKeys = startKeys(context, writer.roots !== undefined, batch);
      if (batch.healed) {
        context.keys.healing(batch.healed);
        context.store.startHealing(fidOfKey(batch.healed.account));
      }
      const blockKeys = new BlockKeys(context, batch.blocks);
      for (const [op, block] of ops) {
        if (block) blockKeys.applyUpTo(block.number);
        withEvents(context, causeOfRelayed(op, block), () => applyRelayedOp(context, writer.totals, op));
      }
      blockKeys.applyUpTo(Number.POSITIVE_INFINITY);
      if (batch.healed) context.store.endHealing();
      if (batch.blocks) markRelayedBlocks(db, batch.blocks, context.nowSecs);
      for (const block of batch.hubBlocks ?? []) if (appendHubBlock(db, block)) writer.signalHubEvents();
      writeProgress(db, batch, context.nowSecs);
      const kinds = context.keys.flush();
      if (batch.healed) {
        const shards = shardCount(db);
        healAccount({ db, network, kinds: new KindRoots(db, network, shards), shards }, batch.healed);
        writer.roots?.recompute(batch.healed.shard, batch.healed.account, context.nowSecs);
      }
      if (tracksKeys)
        writer.roots?.update({
          shard: batch.blocks?.shard,
          kinds,
          claimedRoots: blockKeys.claimedRoots,
          nowSecs: context.nowSecs,
        });
    });
  }

  /**
   * Moves more of the rows that still name casts by previous ids, in a separate commit. Every other commit does the same, so
   * this is for a node that receives nothing.
   */
  function repointMore(): void {
    if (!db.repoints.areAny(db)) return;
    try {
      write(() => undefined);
    } catch (cause) {
      onFault(cause);
    }
  }

  /** Appends an empty block to the log of hub events that this node numbers itself, to show subscribers that it is alive. */
  function heartbeat(): void {
    if (!hubLog?.isReady()) return;
    try {
      write(({ nowSecs }) => {
        hubLog.heartbeat(nowSecs);
        writer.signalHubEvents();
      }, hubLog);
    } catch (cause) {
      onFault(cause);
    }
  }

  function commit(
    records: readonly IngestRecord[],
    positions: readonly PositionUpdate[],
    options: ApplyOptions,
  ): MergeOutcome[] {
    willMerge(db, () => records.flatMap((record) => (record.kind === "message" ? [record.message] : [])));
    return write((context) => {
      const outcomes = records.map((record) =>
        withEvents(context, causeOf(record), () => writer.applyOne(context, record, options)),
      );
      for (const { key, position } of positions) putPosition(db, key, position);
      options.alongside?.();
      return outcomes;
    }, hubLog);
  }

  return {
    apply,
    applyResumable,
    applyRelayed,
    /**
     * Applies a batch of an import into an empty index with the bulk build: what merging would only add goes to its spool,
     * and what may depend on the order is deferred until the index is built. Outcomes and positions are as with
     * `applyResumable`.
     *
     * @throws StorageError if nothing was written. The same batch can be applied again.
     */
    spoolImport(
      batch: ImportedBatch,
      positions: readonly PositionUpdate[],
      expectedMessages: number,
    ): SpoolOutcome[] {
      bound?.setPhase("spooling");
      requireRoom();
      return bulk.spoolImport(batch, positions, expectedMessages);
    },
    /** Whether the spool of an import accepts no more messages, so that every further record would be deferred. */
    get hasSpoolEnded(): boolean {
      return bulk.hasEnded;
    },
    /** Makes the commits of `spoolImport` durable, which are not synced individually. */
    syncSpool: bulk.sync,
    /** Merges the next deferred records, after the build. Returns their outcomes, or undefined if there are no more. */
    applyDeferred: (): DeferredOutcome[] | undefined => applyDeferred(db, applyResumable),
    repointMore,
    heartbeat,
    /**
     * Runs the next step of the bulk build, after the last batch with spooled messages. Returns undefined when the index is
     * built, or if nothing was spooled.
     *
     * @throws StorageError if the database cannot be written. The same step can be repeated.
     */
    buildStep(): BulkProgress | undefined {
      bound?.setPhase("building");
      const progress = bulk.step();
      if (!progress) bound?.setPhase("finished");
      return progress;
    },
  };
}
