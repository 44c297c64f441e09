import type { SQLQueryBindings } from "bun:sqlite";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { StateDatabase } from "./database.ts";
import { jsonRows, type SqlValue } from "./sql.ts";
import { createSteadyClock } from "./state-clock.ts";
import {
  type Decision,
  type DecisionContext,
  type DecisionOptions,
  type Queries,
  type StateDb,
  type Swept,
  startSingleNode,
  sweptOf,
} from "./state-db.ts";

/** A write on its way to the writer. All its values can be cloned between threads. */
export interface StateCall {
  /** The store of a decision, or `sweeps`. */
  readonly store: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Sends a write to the writer. Resolves with its result after the commit. */
export type CallWriter = (call: StateCall) => Promise<unknown>;

/** A decision as the writer runs it, in its own transaction. */
export interface WriterDecision {
  run(args: readonly unknown[]): Promise<unknown>;
  readonly isSynced: boolean;
}

/** Opens the state for a thread that reads state.db and has its decisions made by the writer. */
export function readerStateDb(db: StateDatabase, callWriter: CallWriter): StateDb {
  const call = (name: string, args: readonly unknown[]) => {
    const [store = "", method = ""] = name.split(".");
    return callWriter({ store, method, args });
  };
  return {
    ...promisedQueries(queriesOf(db)),
    isOrdered: true,
    decision:
      <Args extends readonly unknown[], T>(name: string) =>
      (...args: Args) =>
        call(name, args) as Promise<T>,
    sweep: (name) => ({
      name,
      step: (maxRows) => call(`sweeps.${name}`, [maxRows]) as Promise<Swept>,
    }),
  };
}

/**
 * Opens the state for the writer's thread, and collects the decisions of the stores that are created with it.
 *
 * @param decisions by name; filled by this function.
 */
export function writerStateDb(
  db: StateDatabase,
  context: DecisionContext,
  decisions: Map<string, WriterDecision>,
): StateDb {
  const queries = queriesOf(db);
  const noLock = async () => undefined;
  /** SQLite runs a decision only once. */
  const decisionOf = (): Decision => ({
    ...queries,
    ...context,
    lock: noLock,
    lockShared: noLock,
    lockRows: noLock,
    callId: crypto.randomUUID(),
  });
  const declare = (name: string, run: WriterDecision["run"], { isSynced = true }: DecisionOptions = {}) => {
    if (decisions.has(name)) throw new Error(`decision ${name} is declared twice`);
    decisions.set(name, { run, isSynced });
  };
  const onlyByWriter = (name: string) => () => {
    throw new Error(`${name} runs in the transactions of the writer`);
  };
  return {
    ...promisedQueries(queries),
    isOrdered: true,
    decision<Args extends readonly unknown[], T>(
      name: string,
      body: (tx: Decision, ...args: Args) => Promise<T>,
      options?: DecisionOptions,
    ) {
      declare(name, (args) => body(decisionOf(), ...(args as Args)), options);
      return onlyByWriter(name);
    },
    sweep(name, body) {
      const step = async (maxRows: number) => sweptOf(await body(decisionOf(), maxRows), maxRows);
      declare(`sweeps.${name}`, ([maxRows]) => step(maxRows as number), { isSynced: false });
      return { name, step: onlyByWriter(name) };
    },
  };
}

/** Opens the state for a command, which is the only writer and makes each decision in its own transaction. */
export function taskStateDb(db: StateDatabase, context: DecisionContext = taskContext()): StateDb {
  return localStateDb(db, context, (run) => db.transactionOf(run));
}

/** Opens the state for the dry run of a command: all decisions share one transaction, which is rolled back at the end. */
export function dryRunStateDb(
  db: StateDatabase,
  context: DecisionContext = taskContext(),
): StateDb & Disposable {
  db.sqlite.exec("BEGIN IMMEDIATE");
  return { ...localStateDb(db, context, (run) => run()), [Symbol.dispose]: () => db.sqlite.exec("ROLLBACK") };
}

function localStateDb(
  db: StateDatabase,
  context: DecisionContext,
  inTransaction: (run: () => Promise<unknown>) => Promise<unknown>,
): StateDb {
  const decisions = new Map<string, WriterDecision>();
  const writer = writerStateDb(db, context, decisions);
  const call = (name: string, args: readonly unknown[]) =>
    inTransaction(async () => decisions.get(name)?.run(args));
  return {
    ...writer,
    decision(name, body, options) {
      writer.decision(name, body, options);
      return (...args) => call(name, args) as never;
    },
    sweep(name, body) {
      writer.sweep(name, body);
      return { name, step: (maxRows) => call(`sweeps.${name}`, [maxRows]) as Promise<Swept> };
    },
  };
}

/** Returns the context for the decisions of a command, which has no slot of its own. */
export function taskContext(clock: Clock = systemClock): DecisionContext {
  return { clock: createSteadyClock({ clock }), node: startSingleNode() };
}

/** For callers outside of a decision, which may use promises freely. */
function promisedQueries(queries: Queries): Queries {
  return {
    all: async (...args) => queries.all(...args),
    get: async (...args) => queries.get(...args),
    each: async (...args) => queries.each(...args),
    run: async (...args) => queries.run(...args),
  };
}

/**
 * For the body of a decision, which awaits each result: returning it without a promise saves a tenth of a statement's cost.
 */
function queriesOf(db: StateDatabase): Queries {
  return {
    all: (statement, ...params) => db.all(statement.sqlite, ...bindings(params)) as never,
    get: (statement, ...params) => db.get(statement.sqlite, ...bindings(params)) as never,
    each(statement, rows, ...params) {
      const shared = bindings(params);
      const { sqliteRows } = statement;
      if (rows.length > 1 && sqliteRows) return db.all(sqliteRows, jsonRows(rows), ...shared) as never;
      const [row] = rows;
      if (row && rows.length === 1) return db.all(statement.sqlite, ...shared, ...bindings(row)) as never;
      return rows.flatMap((row) => db.all(statement.sqlite, ...shared, ...bindings(row))) as never;
    },
    run: (statement, ...params) => db.run(statement.sqlite, ...bindings(params)) as never,
  };
}

/** Passes an array as JSON text, which the statement reads with `json_each`. */
function bindings(values: readonly SqlValue[]): SQLQueryBindings[] {
  // Few calls have an array, and copying the parameters costs a tenth of a small statement.
  if (!values.some(Array.isArray)) return values as SQLQueryBindings[];
  return values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : (value as SQLQueryBindings)));
}
