import type { Sql, SqlValue } from "./sql.ts";
import type { StateClock } from "./state-clock.ts";
import type { StateNode } from "./state-node.ts";
import type { Sweep } from "./sweep.ts";

/** What a statement runs on. */
export interface Queries {
  all<Row, P extends readonly SqlValue[]>(statement: Sql<Row, P>, ...params: P): Promise<Row[]>;
  get<Row, P extends readonly SqlValue[]>(statement: Sql<Row, P>, ...params: P): Promise<Row | undefined>;
  /** Returns the number of affected rows. */
  run<P extends readonly SqlValue[]>(statement: Sql<unknown, P>, ...params: P): Promise<number>;
}

/**
 * The advisory locks, in the order in which a transaction takes them. Row locks follow: app, campaign, `dedupe_keys`, write
 * clocks by (fid, slot), the call of a write, its messages by seq, webhook, health by webhook, deliveries by seq, inserts sorted
 * by their unique key, counters last.
 */
export const LOCK_CLASSES = {
  /** The schema, while it is migrated. */
  migration: 0,
  /** The order of `webhook_changes`: exclusive for a writer of that table, shared for a publisher. */
  change: 1,
  /** The records of one kind and owner, while they are counted. Name: `<kind>:<fid>`. */
  owner: 2,
  /** One app's tokens: exclusive for a page of an import, shared for events. Name: the app_id. */
  app: 3,
  /** The slots of nodes. */
  nodes: 4,
} as const;

export type LockClass = keyof typeof LOCK_CLASSES;

/** Where and when a decision is made. */
export interface DecisionContext {
  /** The clock by which the state expires data. */
  readonly clock: StateClock;
  /** The process, under whose boot and slot the stores write. */
  readonly node: StateNode;
}

/** The transaction of a decision. */
export interface Tx extends Queries, DecisionContext {
  /**
   * Takes an advisory lock until the end of the transaction, ahead of the reads that it guards. SQLite has one writer, which
   * needs none.
   *
   * @param name none where the class is one lock.
   */
  lock(lockClass: LockClass, name?: string): Promise<void>;
  lockShared(lockClass: LockClass, name?: string): Promise<void>;
}

/** One run of a decision. PostgreSQL repeats a decision when the response to its commit is lost, so it may have happened already. */
export interface Decision<T> extends Tx {
  /** A UUID of this call, the same in each of its runs. */
  readonly callId: string;
  /** Whether an earlier run of this call may have been committed. */
  readonly isRepeated: boolean;
  /** What that run returned. */
  readonly earlier: T | undefined;
}

export interface DecisionOptions {
  /**
   * Whether the commit is synced to the disk before the call returns; default true. A power failure may undo other commits: only for
   * work that is repeated under the same id.
   */
  readonly isSynced?: boolean;
  /**
   * Whether the body runs one statement and takes no lock: in PostgreSQL it needs no transaction then, which saves two round trips. Only
   * the statement is repeated, not the body.
   */
  readonly isOneStatement?: boolean;
}

/**
 * The state as a store uses it: on any thread, over either database. Reads see the last commit. Every write is a decision: one
 * transaction, which fails with `StateUnavailable` if the database does not respond in time.
 */
export interface StateDb extends Queries {
  /**
   * Declares a decision, and returns the function that makes it. With state.db the body runs in the writer's thread, where each store
   * is created as well, so arguments and result are values that can be cloned, and the body uses nothing else of the caller.
   *
   * A body awaits nothing but its transaction.
   *
   * @param name `<store>.<method>`, unique.
   */
  decision<Args extends readonly unknown[], T>(
    name: string,
    body: (tx: Decision<T>, ...args: Args) => Promise<T>,
    options?: DecisionOptions,
  ): (...args: Args) => Promise<T>;
  /**
   * Declares the deletion of expired rows.
   *
   * @param body deletes at most `maxRows` rows and returns their number.
   */
  sweep(name: string, body: (tx: Tx, maxRows: number) => Promise<number>): Sweep;
}
