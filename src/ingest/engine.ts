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
import { applyKeyMessage, touchGaslessKey } from "./gasless-keys.ts";
import { type MergeContext, mergeMessage } from "./merge.ts";
import { MessageStore } from "./message-store.ts";
import type { IngestRecord } from "./record.ts";
import { mergeFnameProof, mergeOnChainEvent } from "./registry.ts";
import { applyRelayedOp, causeOfRelayed, type RelayedBatch, writeProgress } from "./relay.ts";
import { StorageLimitsOfFids } from "./storage-limits.ts";

/** What became of a record: nothing when it was merged, else why not. */
export type Verdict = Rejection | undefined;

/** A position of resumable work that moves with a batch: both are written or neither. */
export interface PositionMove {
  readonly key: string;
  readonly position: number;
}

export interface ApplyOptions {
  /**
   * The network accepted the records before, as those of an import: a message is admitted as of the time at which it was
   * signed, so that a gasless key or a Pro tier that has expired since then still counts.
   */
  readonly isHistory?: boolean;
}

export interface EngineOptions {
  readonly db: IndexDatabase;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** Told of a fault that is no fault of the input. */
  readonly onFault: (cause: unknown) => void;
  /** Told after each commit that wrote events. */
  readonly onEvents?: () => void;
}

/** The one writer of the index: admits and merges records that were validated, a batch in one transaction. */
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
   * Applies a batch; returns the verdicts in the order of the records, after the commit is on the disk. What could not be
   * stored is `unavailable`: its sender tries again, and what was stored nevertheless is a duplicate then.
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
   * Applies a batch of resumable work, as `apply` does, and moves its positions in the same transaction.
   *
   * A record that causes a fault costs the others nothing: each gets a transaction of its own, and the verdict of the
   * one at fault is `unavailable`. The positions then stay, because they never move past a record that was not stored.
   *
   * @throws StorageError when the database cannot be written. Some of the records may be stored; the positions have
   *   not moved, and the same batch can be applied again.
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
   * Applies what the node relays from the one that it follows, in one transaction. An operation that the index itself
   * cannot hold is reported and passed over, so that one poisoned record does not end the following.
   *
   * @throws StorageError when the database cannot be written; the positions have then not moved, and the same batch can
   *   be applied again.
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
        this.#tellingOf(context, causeOfRelayed(op), () => applyRelayedOp(context, this.#totals, op));
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
        this.#tellingOf(context, causeOf(record), () => this.#applyOne(context, record, options)),
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

  /** Runs one operation on the network's state and writes the events that follow from what it changed. */
  #tellingOf<T>(context: MergeContext, cause: Cause, operation: () => T): T {
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
        if (!verdict) touchGaslessKey(context.db, message);
        return verdict;
      }
    }
  }

  /** Reports a fault; returns the verdict of the records that are not stored because of it. */
  #unstored(cause: unknown): Rejection {
    this.#options.onFault(cause);
    return new Rejection("unavailable", "the node could not store the record; try again");
  }
}
