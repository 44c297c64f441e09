import type { SQLQueryBindings } from "bun:sqlite";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { StateDatabase } from "./database.ts";
import type { SqlValue } from "./sql.ts";
import { createSteadyClock } from "./state-clock.ts";
import type { Decision, DecisionContext, DecisionOptions, Queries, StateDb } from "./state-db.ts";
import { startSingleNode } from "./state-node.ts";
import type { CallWriter } from "./store-writes.ts";
import type { Swept } from "./sweep.ts";

/** A decision as the writer runs it, within a transaction of its own. */
export interface WriterDecision {
  run(args: readonly unknown[]): Promise<unknown>;
  readonly isSynced: boolean;
}

/** The state for a thread that reads state.db, and has its decisions made by the writer. */
export function readerStateDb(db: StateDatabase, callWriter: CallWriter): StateDb {
  const call = (name: string, args: readonly unknown[]) => {
    const [store = "", method = ""] = name.split(".");
    return callWriter({ store, method, args });
  };
  return {
    ...queriesOf(db),
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
 * The state for the writer's thread: collects the decisions of the stores that are created with it.
 *
 * @param decisions by name, filled.
 */
export function writerStateDb(
  db: StateDatabase,
  context: DecisionContext,
  decisions: Map<string, WriterDecision>,
): StateDb {
  const queries = queriesOf(db);
  const noLock = async () => undefined;
  /** SQLite runs a decision once. */
  const decisionOf = <T>(): Decision<T> => ({
    ...queries,
    ...context,
    lock: noLock,
    lockShared: noLock,
    callId: crypto.randomUUID(),
    isRepeated: false,
    earlier: undefined,
  });
  const declare = (name: string, run: WriterDecision["run"], { isSynced = true }: DecisionOptions = {}) => {
    if (decisions.has(name)) throw new Error(`decision ${name} is declared twice`);
    decisions.set(name, { run, isSynced });
  };
  const onlyByWriter = (name: string) => () => {
    throw new Error(`${name} runs in the transactions of the writer`);
  };
  return {
    ...queries,
    decision<Args extends readonly unknown[], T>(
      name: string,
      body: (tx: Decision<T>, ...args: Args) => Promise<T>,
      options?: DecisionOptions,
    ) {
      declare(name, (args) => body(decisionOf<T>(), ...(args as Args)), options);
      return onlyByWriter(name);
    },
    sweep(name, body) {
      const step = async (maxRows: number): Promise<Swept> => {
        const deleted = await body(decisionOf(), maxRows);
        return { deleted, more: deleted === maxRows };
      };
      declare(`sweeps.${name}`, ([maxRows]) => step(maxRows as number), { isSynced: false });
      return { name, step: onlyByWriter(name) };
    },
  };
}

/** The state for a command, which is the only writer: it makes each decision in a transaction of its own. */
export function taskStateDb(db: StateDatabase, context: DecisionContext = taskContext()): StateDb {
  const decisions = new Map<string, WriterDecision>();
  const writer = writerStateDb(db, context, decisions);
  const call = (name: string, args: readonly unknown[]) =>
    db.transactionOf(async () => decisions.get(name)?.run(args));
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

/** Where and when a command decides. It has no slot of its own. */
export function taskContext(clock: Clock = systemClock): DecisionContext {
  return { clock: createSteadyClock({ clock }), node: startSingleNode() };
}

function queriesOf(db: StateDatabase): Queries {
  return {
    all: async (statement, ...params) => db.all(statement.sqlite, ...params.map(binding)) as never,
    get: async (statement, ...params) => db.get(statement.sqlite, ...params.map(binding)) as never,
    run: async (statement, ...params) => db.run(statement.sqlite, ...params.map(binding)),
  };
}

/** An array is a JSON text, which a statement reads by `json_each`. */
function binding(value: SqlValue): SQLQueryBindings {
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLQueryBindings);
}
