import { jsonRows } from "../state/sql.ts";
import { taskContext } from "../state/sqlite-state-db.ts";
import { type StateClock, stateSecs } from "../state/state-clock.ts";
import {
  type Decision,
  type DecisionContext,
  type DecisionOptions,
  type Queries,
  type StateDb,
  type Sweep,
  sweptOf,
  type Tx,
} from "../state/state-db.ts";
import { key, table, uuid, whole } from "../state/table.ts";
import type { PgPool, PgQueries, PgTransaction } from "./pool.ts";
import { pgStatement } from "./statement.ts";

/** Connections by the durability of their commits. */
export interface StateDbPools {
  readonly synced: PgPool;
  readonly unsynced: PgPool;
}

/**
 * Calls whose transactions were committed. If the response to a commit is lost, the call is repeated and finds itself here.
 * State.db loses no responses.
 */
export const decidedCalls = table(
  "decided_calls",
  { call_id: key(uuid()), decided_at: whole() },
  {
    isCopied: false,
    only: "postgres",
    indexes: [{ name: "decided_calls_decided_at", columns: ["decided_at"] }],
  },
);

/** Far longer than a call can be repeated. */
const CALL_RETENTION_SECS = 3600;

/** Waits for an earlier run of the call whose commit has not finished yet. */
const takeCall = pgStatement<unknown, [callId: string, nowSecs: number]>(
  "decided-calls.take",
  "INSERT INTO decided_calls (call_id, decided_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
);
const deleteOldCalls = pgStatement<unknown, [beforeSecs: number, max: number]>(
  "decided-calls.sweep",
  `DELETE FROM decided_calls WHERE call_id IN
   (SELECT c.call_id FROM decided_calls c WHERE c.decided_at < $1 ORDER BY c.decided_at LIMIT $2)`,
);

export function decidedCallSweep(db: PgPool, clock: StateClock): Sweep {
  return {
    name: "decided_calls",
    async step(maxRows) {
      const beforeSecs = clock.sweepableSecs() - CALL_RETENTION_SECS;
      const deleted = await db.transaction((tx) => tx.run(deleteOldCalls, beforeSecs, maxRows));
      return { deleted, more: deleted === maxRows };
    },
  };
}

/** Opens the state in PostgreSQL, where every thread makes its decisions itself. */
export function postgresStateDb({ synced, unsynced }: StateDbPools, context: DecisionContext): StateDb {
  const txOf = (tx: PgTransaction): Tx => ({
    ...queriesOf(tx),
    ...context,
    lock: tx.lock.bind(tx),
    lockShared: tx.lockShared.bind(tx),
    lockRows: (statement, ...params) => tx.all(statement, ...params),
  });
  return {
    ...queriesOf(synced),
    isOrdered: false,
    decision<Args extends readonly unknown[], T>(
      _name: string,
      body: (tx: Decision, ...args: Args) => Promise<T>,
      { isSynced = true, isOneStatement = false, isIdempotent = !isSynced }: DecisionOptions = {},
    ) {
      const pool = isSynced ? synced : unsynced;
      if (isOneStatement) {
        const statement = {
          ...queriesOf(pool),
          ...context,
          lock: noLock,
          lockShared: noLock,
          lockRows: noLock,
        };
        return (...args: Args) => body({ ...statement, callId: crypto.randomUUID() }, ...args);
      }
      return (...args: Args) => {
        const callId = crypto.randomUUID();
        let result: T;
        return pool.transaction(async (tx) => {
          const isDecided = !isIdempotent && (await tx.run(takeCall, callId, stateSecs(context.clock))) === 0;
          if (!isDecided) result = await body({ ...txOf(tx), callId }, ...args);
          return result;
        });
      };
    },
    sweep: (name, body) => ({
      name,
      step: async (maxRows) => sweptOf(await synced.transaction((tx) => body(txOf(tx), maxRows)), maxRows),
    }),
  };
}

/** Opens the state for a command, or for what a node decides before it has joined the others. */
export function postgresTaskDb(pool: PgPool): StateDb {
  return postgresStateDb({ synced: pool, unsynced: pool }, taskContext());
}

const noLock = () => Promise.reject(new Error("a decision with one statement must not take a lock"));

function queriesOf(queries: PgQueries): Queries {
  return {
    all: (statement, ...params) => queries.all(statement, ...params),
    get: (statement, ...params) => queries.get(statement, ...params),
    each: async (statement, rows, ...params) =>
      rows.length === 0 ? [] : (queries.all(statement, jsonRows(rows), ...params) as never),
    run: (statement, ...params) => queries.run(statement, ...params),
  };
}
