import type { Sql, SqlEach, SqlScalar, SqlValue } from "./sql.ts";
import type { StateClock } from "./state-clock.ts";

/**
 * A process of the service as the state knows it. Created at the start of the process and passed to every thread, because
 * what the process has claimed (deliveries, campaigns) is stored under its boot.
 */
export interface StateNode {
  /** Identifies the node across restarts. */
  readonly nodeId: string;
  /** UUID of this start of the node. */
  readonly bootId: string;
  /** From 0 to 63, unique among live nodes. Counters have a row for each slot. */
  readonly slot: number;
}

/** Returns a new boot of the only node of a state. */
export function startSingleNode(nodeId = "single"): StateNode {
  return { nodeId, bootId: crypto.randomUUID(), slot: 0 };
}

/** The result of one step of a sweep. */
export interface Swept {
  readonly deleted: number;
  /** Whether there may be more rows to delete now. */
  readonly more: boolean;
}

/** Deletes one kind of expired or orphaned row. */
export interface Sweep {
  /** Name in metrics and in the status. */
  readonly name: string;
  /** Deletes at most `maxRows` rows in one short transaction, by the state's clock. */
  step(maxRows: number): Promise<Swept>;
}

/** Returns the result of a step that was allowed to delete at most `maxRows` rows. */
export function sweptOf(result: number | Swept, maxRows: number): Swept {
  return typeof result === "number" ? { deleted: result, more: result === maxRows } : result;
}

/** Runs statements. */
export interface Queries {
  all<Row, P extends readonly SqlValue[]>(statement: Sql<Row, P>, ...params: P): Promise<Row[]>;
  get<Row, P extends readonly SqlValue[]>(statement: Sql<Row, P>, ...params: P): Promise<Row | undefined>;
  /** Runs a statement for each of the rows. Returns the results for all of them, in any order. */
  each<Row, C extends readonly SqlScalar[], P extends readonly SqlScalar[]>(
    statement: SqlEach<Row, C, P>,
    rows: readonly Readonly<C>[],
    ...params: P
  ): Promise<Row[]>;
  /** Returns the number of affected rows. */
  run<P extends readonly SqlValue[]>(statement: Sql<unknown, P>, ...params: P): Promise<number>;
}

/**
 * The advisory locks, in the order in which a transaction takes them. Row locks follow: app, campaign, `dedupe_keys`, write
 * clocks by (fid, slot), the call of a write, its messages by seq, webhook, health by webhook, deliveries by seq, inserts
 * sorted by their unique key, counters last.
 */
export const LOCK_CLASSES = {
  /** The schema, while it is migrated. */
  migration: 0,
  /** The order of `webhook_changes`: exclusive for writers of that table, shared for publishers. */
  change: 1,
  /** The records of one kind and owner, while they are counted. Name: `<kind>:<fid>`. */
  owner: 2,
  /** One app's tokens: exclusive for a page of an import, shared for events. Name: the app_id. */
  app: 3,
  /** The slots of nodes. */
  nodes: 4,
} as const;

export type LockClass = keyof typeof LOCK_CLASSES;

/** The context in which a decision is made. */
export interface DecisionContext {
  /** The clock by which the state expires data. */
  readonly clock: StateClock;
  /** The process under whose boot and slot the stores write. */
  readonly node: StateNode;
}

/** The transaction of a decision. */
export interface Tx extends Queries, DecisionContext {
  /**
   * Takes an advisory lock until the end of the transaction, ahead of the reads that it guards. Does nothing in SQLite,
   * which has a single writer.
   *
   * @param name omitted if the class is a single lock.
   */
  lock(lockClass: LockClass, name?: string): Promise<void>;
  lockShared(lockClass: LockClass, name?: string): Promise<void>;
  /**
   * Locks rows until the end of the transaction by a `SELECT … FOR UPDATE`, or a weaker lock.
   *
   * @returns the locked rows. Undefined with SQLite, whose single writer needs no locks: the statement does not run.
   */
  lockRows<Row, P extends readonly SqlValue[]>(
    statement: Sql<Row, P>,
    ...params: P
  ): Promise<readonly Row[] | undefined>;
}

/**
 * One run of a decision. PostgreSQL repeats it if a response is lost. The body does not run again after a run that was
 * committed, except for the decisions of `DecisionOptions`, which then do the same again or nothing.
 */
export interface Decision extends Tx {
  /** A UUID of this call, the same in each of its runs. */
  readonly callId: string;
}

export interface DecisionOptions {
  /**
   * Whether the commit is synced to disk before the call returns; default true. A power failure may undo unsynced commits,
   * so use false only for work that is repeated under the same id.
   */
  readonly isSynced?: boolean;
  /**
   * Whether the body runs a single statement and takes no lock. In PostgreSQL it then needs no transaction, which saves two
   * round trips. Only the statement is repeated, not the body.
   */
  readonly isOneStatement?: boolean;
  /** Whether the body recognises an earlier run by its `callId`, which saves the statement that records the call. */
  readonly isIdempotent?: boolean;
}

/**
 * The state as a store uses it, on any thread and over either database. Reads see the last commit. Every write is a
 * decision: one transaction, which fails with `StateUnavailable` if the database does not respond in time.
 */
export interface StateDb extends Queries {
  /** Whether the decisions of a thread are made in the order of their calls. */
  readonly isOrdered: boolean;
  /**
   * Declares a decision, and returns the function that makes it. With state.db the body runs in the writer's thread, where
   * each store is created too. Therefore the arguments and the result must be values that can be cloned, and the body must
   * not use anything else of the caller.
   *
   * A body awaits only its transaction.
   *
   * @param name `<store>.<method>`, unique.
   */
  decision<Args extends readonly unknown[], T>(
    name: string,
    body: (tx: Decision, ...args: Args) => Promise<T>,
    options?: DecisionOptions,
  ): (...args: Args) => Promise<T>;
  /**
   * Declares the deletion of expired rows.
   *
   * @param body deletes at most `maxRows` rows and returns their number. If it deleted that many, there may be more, unless
   * it says otherwise.
   */
  sweep(name: string, body: (tx: Tx, maxRows: number) => Promise<number | Swept>): Sweep;
}
