import type { BulkBuild, BulkProgress, PackedMessages } from "../db/index/bulk/bulk-build.ts";
import { isBulkBuilding, openBulkBuild } from "../db/index/bulk/open-bulk-build.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { appendHubBlock } from "../db/index/hub-log.ts";
import { putPosition } from "../db/index/positions.ts";
import { continueRepoints } from "../db/index/project/repoints.ts";
import { StoreCounts } from "../db/index/store-counts.ts";
import { TotalsDelta } from "../db/index/totals.ts";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";
import { toUnixSecs } from "../protocol/time.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { admit, admitByMessages } from "./admit.ts";
import { ChangeTracker } from "./change-tracker.ts";
import { deferredAfter, dropDeferred } from "./deferred-records.ts";
import { causeOf, type EventCause, isHistory, writeEvents } from "./events.ts";
import { applyKeyMessage, renewGaslessSigner } from "./gasless-keys.ts";
import { OperationEvents } from "./hub-log/operation-events.ts";
import type { OwnHubLog } from "./hub-log/own-hub-log.ts";
import { type ImportedBatch, ImportSpool, type SpoolOutcome } from "./import-spool.ts";

import { type MergeContext, mergeMessage } from "./merge.ts";
import { MessageStore } from "./message-store.ts";
import { decodeRecord, type IngestRecord, type RecordKind } from "./record.ts";
import { mergeFnameProof, mergeOnChainEvent } from "./registry.ts";
import {
  applyRelayedOp,
  applySpooledOp,
  causeOfRelayed,
  type RelayedBatch,
  type SingleOp,
  singleOps,
  writeProgress,
} from "./relay.ts";
import { SignerCache } from "./signer-cache.ts";
import { StorageLimitCache } from "./storage-limits.ts";

/** The outcome of a record: undefined if it was merged, otherwise why it was refused. */
export type MergeOutcome = Rejection | undefined;

/** A new position of resumable work. It is written in the transaction of a batch. */
export interface PositionUpdate {
  readonly key: string;
  readonly position: number;
}

export interface ApplyOptions {
  /**
   * The network accepted the records before, for example those of an import. A message is then admitted as of the
   * time at which it was signed, so that a gasless key or a Pro tier that has expired since still counts.
   */
  readonly isHistory?: boolean;
  /** The registry has admitted the messages before. */
  readonly isAdmitted?: boolean;
  /** Runs in the transaction that stores all of the records. */
  readonly alongside?: (() => void) | undefined;
}

/** The outcome of a record that was deferred. */
export interface DeferredOutcome {
  readonly offset: number;
  readonly kind: RecordKind;
  readonly outcome: MergeOutcome;
}

export interface IngestEngineDeps {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** Called for a fault that the input did not cause. */
  readonly onFault: (cause: unknown) => void;
  /** Called after each commit that wrote events. */
  readonly onEvents?: () => void;
  /** The log of the hub events of records; undefined for records that are not logged, such as those of an import. */
  readonly hubLog?: OwnHubLog | undefined;
  /** Called after each commit that logged hub events. */
  readonly onHubEvents?: () => void;
}

/** The writer of the index. Admits and merges validated records, one batch in one transaction. */
export interface IngestEngine {
  /**
   * Applies a batch. Returns the outcomes in the order of the records, after the commit is on disk. A record that could
   * not be stored is `unavailable`: its sender tries again, and if it was stored after all, it is then a duplicate.
   */
  apply(records: readonly IngestRecord[]): MergeOutcome[];

  /**
   * Applies a batch of resumable work like `apply` and writes its positions in the same transaction.
   *
   * If a record causes a fault, each record gets a transaction of its own, so that only the record at fault is
   * `unavailable`. The positions are then not written, because they never move past a record that was not stored.
   *
   * @throws StorageError if the database cannot be written. Some of the records may be stored. The positions have not
   *   moved, and the same batch can be applied again.
   */
  applyResumable(
    records: readonly IngestRecord[],
    positions: readonly PositionUpdate[],
    options?: ApplyOptions,
  ): MergeOutcome[];

  /**
   * Applies a batch of operations from the upstream in one transaction. An operation that causes a fault is reported and
   * skipped, so that one bad record does not stop the node from following.
   *
   * @throws StorageError if the database cannot be written. The positions have not moved, and the same batch can be
   *   applied again.
   */
  applyRelayed(batch: RelayedBatch): void;

  /**
   * Applies a batch of an import into an empty index, with the bulk build: what merging would only add goes to its spool, what
   * may depend on the order is deferred until the index is built. Outcomes and positions are as with `applyResumable`.
   *
   * @throws StorageError if nothing was written. The same batch can be applied again.
   */
  spoolImport(
    batch: ImportedBatch,
    positions: readonly PositionUpdate[],
    expectedMessages: number,
  ): SpoolOutcome[];

  /** Whether the spool of an import takes no more messages: every further record would be deferred. */
  readonly hasSpoolEnded: boolean;

  /** Makes the commits of `spoolImport` durable, which are not synced one by one. */
  syncSpool(): void;

  /** Merges the next deferred records, after the build. Returns their outcomes, or undefined if there are no more. */
  applyDeferred(): DeferredOutcome[] | undefined;

  /**
   * Moves more of the rows that still name casts by former ids, in a commit of its own. Every other commit does the same, so
   * this is for a node that receives nothing.
   */
  repointMore(): void;

  /** Appends an empty block to the log of hub events that this node numbers itself, so that subscribers see that it is alive. */
  heartbeat(): void;

  /**
   * Runs the next step of the bulk build, after the last batch with spooled messages. Returns undefined when the index is built,
   * or when nothing was spooled.
   *
   * @throws StorageError if the database cannot be written. The same step can be repeated.
   */
  buildStep(): BulkProgress | undefined;
}

const DEFERRED_PER_COMMIT = 500;
const CANNOT_LOG = rejection("unavailable", "the node cannot number its next block; try again");

export function createIngestEngine(deps: IngestEngineDeps): IngestEngine {
  const { db, network, clock, onFault, onEvents, hubLog, onHubEvents } = deps;
  const totals = new TotalsDelta(db);
  const counts = new StoreCounts(db);
  const limits = new StorageLimitCache(db);
  const changes = new ChangeTracker();
  const signers = new SignerCache();
  let dataVersion = db.dataVersion();
  const hubEvents = new OperationEvents();
  const store = new MessageStore({ db, network, totals, counts, limits, changes, hubEvents });
  let hasWrittenEvents = false;
  let hasLoggedHubEvents = false;
  /** Opened with the first batch for it, and gone when the index is built. */
  let bulk: BulkBuild | undefined;
  let importSpool: ImportSpool | undefined;

  function apply(records: readonly IngestRecord[]): MergeOutcome[] {
    if (hubLog && !hubLog.isReady()) return records.map(() => CANNOT_LOG);
    try {
      return applyResumable(records, []);
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause;
      const outcome = unstored(cause);
      return records.map(() => outcome);
    }
  }

  function applyResumable(
    records: readonly IngestRecord[],
    positions: readonly PositionUpdate[],
    options: ApplyOptions = {},
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

  function applyRelayed(batch: RelayedBatch): void {
    if (batch.spooled) {
      spool(batch, batch.spooled);
      return;
    }
    try {
      writeRelayed(batch);
      return;
    } catch (cause) {
      if (batch.ops.length === 0 || cause instanceof StorageError) throw cause;
    }
    for (const op of singleOps(batch.ops)) {
      try {
        writeRelayed({ ops: [op], positions: [] });
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        onFault(cause);
      }
    }
    writeRelayed({ ...batch, ops: [] });
  }

  /** Repeats the transaction without each operation that causes a fault. */
  function spool(batch: RelayedBatch, messages: readonly PackedMessages[]): void {
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
          counts.flush();
          totals.flush(db);
          writeProgress(db, batch);
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
              withEvents(context, causeOf(record), () => applyOne(context, record, { isHistory: true })),
          });
          current = undefined;
          outcomes = taken.outcomes;
          counts.flush();
          totals.flush(db);
          if (faults.size === 0) for (const { key, position } of positions) putPosition(db, key, position);
          return taken.rows;
        });
        return outcomes;
      } catch (cause) {
        discard();
        // It has decided on records that were not stored.
        importSpool = undefined;
        if (cause instanceof StorageError || current === undefined) throw cause;
        faults.set(current, unstored(cause));
      }
    }
  }

  function applyDeferred(): DeferredOutcome[] | undefined {
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
    const outcomes = applyResumable(records, [], { isHistory: true, isAdmitted, alongside });
    return batch.map(({ offset, record: { kind } }, at) => ({ offset, kind, outcome: outcomes[at] }));
  }

  function buildStep(): BulkProgress | undefined {
    if (!bulk && !isBulkBuilding(db)) return undefined;
    bulk ??= openBulkBuild(db);
    const progress = bulk.step();
    if (progress === undefined) {
      bulk = undefined;
      importSpool = undefined;
      db.forget();
      forget();
    }
    return progress;
  }

  function writeRelayed(batch: RelayedBatch): void {
    write((context) => {
      for (const op of singleOps(batch.ops))
        withEvents(context, causeOfRelayed(op), () => applyRelayedOp(context, totals, op));
      for (const block of batch.hubBlocks ?? []) if (appendHubBlock(db, block)) hasLoggedHubEvents = true;
      writeProgress(db, batch);
    });
  }

  function repointMore(): void {
    if (!db.repoints.areAny(db)) return;
    try {
      write(() => undefined);
    } catch (cause) {
      onFault(cause);
    }
  }

  function heartbeat(): void {
    if (!hubLog?.isReady()) return;
    try {
      write(({ nowSecs }) => {
        hubLog.heartbeat(nowSecs);
        hasLoggedHubEvents = true;
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
    return write((context) => {
      const outcomes = records.map((record) =>
        withEvents(context, causeOf(record), () => applyOne(context, record, options)),
      );
      for (const { key, position } of positions) putPosition(db, key, position);
      options.alongside?.();
      return outcomes;
    }, hubLog);
  }

  function newContext(): MergeContext {
    return { db, store, limits, changes, hubEvents, signers, nowSecs: nowSecs(clock) };
  }

  function write<T>(work: (context: MergeContext) => T, log?: OwnHubLog): T {
    const context = newContext();
    hasWrittenEvents = false;
    hasLoggedHubEvents = false;
    hubEvents.startTransaction(log !== undefined);
    try {
      const result = db.transaction(() => {
        forgetIfOthersWrote();
        continueRepoints(db);
        const done = work(context);
        if (log) logHubEvents(log, context.nowSecs);
        counts.flush();
        totals.flush(db);
        return done;
      });
      log?.committed();
      if (hasWrittenEvents) onEvents?.();
      if (hasLoggedHubEvents) onHubEvents?.();
      return result;
    } catch (cause) {
      log?.rolledBack();
      discard();
      throw cause;
    }
  }

  function logHubEvents(log: OwnHubLog, nowSecs: number): void {
    const events = hubEvents.take();
    if (events.length === 0) return;
    log.append(events, nowSecs);
    hasLoggedHubEvents = true;
  }

  /** Forgets the changes of a transaction that was rolled back. */
  function discard(): void {
    totals.clear();
    forget();
  }

  /** This is the only writer of a running node. A build of the index or a tool may have written through another connection. */
  function forgetIfOthersWrote(): void {
    const current = db.dataVersion();
    if (current === dataVersion) return;
    dataVersion = current;
    db.forget();
    forget();
  }

  function forget(): void {
    counts.clear();
    limits.clear();
    signers.clear();
  }

  /** Runs one operation on the network's state and writes the events of its changes. */
  function withEvents<T>({ nowSecs }: MergeContext, cause: EventCause, operation: () => T): T {
    changes.start(isHistory(cause, nowSecs));
    const result = operation();
    hubEvents.endOperation();
    if (writeEvents(db, changes, cause, nowSecs) > 0) hasWrittenEvents = true;
    return result;
  }

  function applyOne(context: MergeContext, record: IngestRecord, options: ApplyOptions): MergeOutcome {
    switch (record.kind) {
      case "onChainEvent":
        return mergeOnChainEvent(context, totals, record.event);
      case "usernameProof":
        return mergeFnameProof(context, record.proof);
      case "message": {
        const { message } = record;
        const signedAtSecs = toUnixSecs(message.data.timestamp);
        const admittedAtSecs = options.isHistory ? Math.min(signedAtSecs, context.nowSecs) : context.nowSecs;
        const admission = { db, network, nowSecs: admittedAtSecs, signers };
        const refusal = (options.isAdmitted ? admitByMessages : admit)(admission, message);
        if (refusal) return refusal;
        if (applyKeyMessage(context, message)) return undefined;
        const outcome = mergeMessage(context, message);
        if (!outcome) renewGaslessSigner(context, message);
        return outcome;
      }
    }
  }

  /** Reports a fault and returns the outcome of the records that were not stored because of it. */
  function unstored(cause: unknown): Rejection {
    onFault(cause);
    return rejection("unavailable", "the node could not store the record; try again");
  }

  return {
    apply,
    applyResumable,
    applyRelayed,
    spoolImport,
    get hasSpoolEnded() {
      return importSpool?.allWait ?? false;
    },
    syncSpool: () => bulk?.sync(),
    applyDeferred,
    repointMore,
    heartbeat,
    buildStep,
  };
}
