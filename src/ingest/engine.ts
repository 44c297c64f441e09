import type { IndexDatabase } from "../db/index/database.ts";
import { putPosition } from "../db/index/positions.ts";
import { TotalsDelta } from "../db/index/totals.ts";
import { StorageError } from "../db/sqlite/storage-error.ts";
import { Rejection } from "../protocol/rejection.ts";
import { toUnixSecs } from "../protocol/time.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { admit } from "./admit.ts";
import { Changes } from "./changes.ts";
import { type Cause, causeOf, isHistory, writeEvents } from "./events.ts";
import { applyKeyMessage, renewGaslessSigner } from "./gasless-keys.ts";
import { type MergeContext, mergeMessage } from "./merge.ts";
import { MessageStore } from "./message-store.ts";
import type { IngestRecord } from "./record.ts";
import { mergeFnameProof, mergeOnChainEvent } from "./registry.ts";
import { applyRelayedOp, causeOfRelayed, type RelayedBatch, writeProgress } from "./relay.ts";
import { StorageLimitsOfFids } from "./storage-limits.ts";

/** The outcome of a record: undefined if it was merged, otherwise why not. */
export type Verdict = Rejection | undefined;

/** A new position of resumable work. It is written in the transaction of a batch. */
export interface PositionMove {
  readonly key: string;
  readonly position: number;
}

export interface ApplyOptions {
  /**
   * The network accepted the records before, for example those of an import. A message is then admitted as of the
   * time at which it was signed, so that a gasless key or a Pro tier that has expired since still counts.
   */
  readonly isHistory?: boolean;
}

export interface EngineOptions {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** Called for a fault that the input did not cause. */
  readonly onFault: (cause: unknown) => void;
  /** Called after each commit that wrote events. */
  readonly onEvents?: () => void;
}

/** The writer of the index. Admits and merges validated records, one batch in one transaction. */
export class IngestEngine {
  readonly #options: EngineOptions;
  readonly #totals = new TotalsDelta();
  readonly #limits: StorageLimitsOfFids;
  readonly #changes = new Changes();
  readonly #store: MessageStore;
  #wroteEvents = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#limits = new StorageLimitsOfFids(options.db);
    this.#store = new MessageStore(options.db, this.#totals, this.#limits, this.#changes);
  }

  /**
   * Applies a batch. Returns the outcomes in the order of the records, after the commit is on disk. A record that
   * could not be stored is `unavailable`: its sender tries again, and if it was stored after all, it is then a
   * duplicate.
   */
  apply(records: readonly IngestRecord[]): Verdict[] {
    try {
      return this.applyResumable(records, []);
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause;
      const verdict = this.#unstored(cause);
      return records.map(() => verdict);
    }
  }

  /**
   * Applies a batch of resumable work like `apply` and moves its positions in the same transaction.
   *
   * If a record causes a fault, each record gets a transaction of its own, so that only the record at fault is
   * `unavailable`. The positions then do not move, because they never move past a record that was not stored.
   *
   * @throws StorageError if the database cannot be written. Some of the records may be stored. The positions have not
   *   moved, and the same batch can be applied again.
   */
  applyResumable(
    records: readonly IngestRecord[],
    moves: readonly PositionMove[],
    options: ApplyOptions = {},
  ): Verdict[] {
    try {
      return this.#commit(records, moves, options);
    } catch (cause) {
      if (cause instanceof StorageError || records.length === 0) throw cause;
      if (records.length === 1) return [this.#unstored(cause)];
    }
    let isAnyUnstored = false;
    const verdicts = records.map((record) => {
      try {
        return this.#commit([record], [], options)[0];
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        isAnyUnstored = true;
        return this.#unstored(cause);
      }
    });
    if (!isAnyUnstored && moves.length > 0) this.#commit([], moves, options);
    return verdicts;
  }

  /**
   * Applies a batch of operations from the upstream in one transaction. An operation that causes a fault is reported
   * and skipped, so that one bad record does not stop the node from following.
   *
   * @throws StorageError if the database cannot be written. The positions have not moved, and the same batch can be
   *   applied again.
   */
  applyRelayed(batch: RelayedBatch): void {
    try {
      this.#writeRelayed(batch);
      return;
    } catch (cause) {
      if (batch.ops.length === 0 || cause instanceof StorageError) throw cause;
    }
    for (const op of batch.ops) {
      try {
        this.#writeRelayed({ ops: [op], moves: [] });
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        this.#options.onFault(cause);
      }
    }
    this.#writeRelayed({ ...batch, ops: [] });
  }

  #writeRelayed(batch: RelayedBatch): void {
    this.#write((context) => {
      for (const op of batch.ops)
        this.#withEvents(context, causeOfRelayed(op), () => applyRelayedOp(context, this.#totals, op));
      writeProgress(context.db, batch);
    });
  }

  #commit(
    records: readonly IngestRecord[],
    moves: readonly PositionMove[],
    options: ApplyOptions,
  ): Verdict[] {
    return this.#write((context) => {
      const verdicts = records.map((record) =>
        this.#withEvents(context, causeOf(record), () => this.#applyOne(context, record, options)),
      );
      for (const { key, position } of moves) putPosition(context.db, key, position);
      return verdicts;
    });
  }

  #write<T>(work: (context: MergeContext) => T): T {
    const { db, clock } = this.#options;
    const context: MergeContext = {
      db,
      store: this.#store,
      limits: this.#limits,
      changes: this.#changes,
      nowSecs: nowSecs(clock),
    };
    this.#wroteEvents = false;
    try {
      const result = db.transaction(() => {
        const done = work(context);
        this.#totals.flush(db);
        return done;
      });
      if (this.#wroteEvents) this.#options.onEvents?.();
      return result;
    } catch (cause) {
      this.#totals.clear();
      this.#limits.forgetAll();
      throw cause;
    }
  }

  /** Runs one operation on the network's state and writes the events of its changes. */
  #withEvents<T>(context: MergeContext, cause: Cause, operation: () => T): T {
    const { db, changes, nowSecs } = context;
    changes.begin(isHistory(cause, nowSecs));
    const result = operation();
    if (writeEvents(db, changes, cause, nowSecs) > 0) this.#wroteEvents = true;
    return result;
  }

  #applyOne(context: MergeContext, record: IngestRecord, options: ApplyOptions): Verdict {
    switch (record.kind) {
      case "onChainEvent":
        return mergeOnChainEvent(context, this.#totals, record.event);
      case "usernameProof":
        return mergeFnameProof(context, record.proof);
      case "message": {
        const { message } = record;
        const signedAtSecs = toUnixSecs(message.data.timestamp);
        const refusal = admit(
          {
            db: context.db,
            network: this.#options.network,
            nowSecs: options.isHistory ? Math.min(signedAtSecs, context.nowSecs) : context.nowSecs,
          },
          message,
        );
        if (refusal) return refusal;
        if (applyKeyMessage(context, message)) return undefined;
        const verdict = mergeMessage(context, message);
        if (!verdict) renewGaslessSigner(context.db, message);
        return verdict;
      }
    }
  }

  /** Reports a fault and returns the outcome of the records that it kept from being stored. */
  #unstored(cause: unknown): Rejection {
    this.#options.onFault(cause);
    return new Rejection("unavailable", "the node could not store the record; try again");
  }
}
