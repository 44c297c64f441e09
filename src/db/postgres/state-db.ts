import { taskContext } from "../state/sqlite-state-db.ts";
import type { Decision, DecisionContext, DecisionOptions, Queries, StateDb, Tx } from "../state/state-db.ts";
import type { PgPool, PgQueries, PgTransaction } from "./pool.ts";

/** Connections by the durability of their commits. */
export interface StateDbPools {
  readonly synced: PgPool;
  readonly unsynced: PgPool;
}

/** The state in PostgreSQL, where every thread makes its decisions itself. */
export function postgresStateDb({ synced, unsynced }: StateDbPools, context: DecisionContext): StateDb {
  const txOf = (tx: PgTransaction): Tx => ({
    ...queriesOf(tx),
    ...context,
    lock: tx.lock.bind(tx),
    lockShared: tx.lockShared.bind(tx),
  });
  return {
    ...queriesOf(synced),
    decision<Args extends readonly unknown[], T>(
      _name: string,
      body: (tx: Decision<T>, ...args: Args) => Promise<T>,
      { isSynced = true, isOneStatement = false }: DecisionOptions = {},
    ) {
      const pool = isSynced ? synced : unsynced;
      if (isOneStatement) {
        const statement = { ...queriesOf(pool), ...context, lock: noLock, lockShared: noLock };
        return (...args: Args) =>
          body({ ...statement, callId: crypto.randomUUID(), isRepeated: false, earlier: undefined }, ...args);
      }
      return (...args: Args) => {
        const callId = crypto.randomUUID();
        let runs = 0;
        let earlier: T | undefined;
        return pool.transaction(async (tx) => {
          runs += 1;
          earlier = await body({ ...txOf(tx), callId, isRepeated: runs > 1, earlier }, ...args);
          return earlier;
        });
      };
    },
    sweep: (name, body) => ({
      name,
      async step(maxRows) {
        const deleted = await synced.transaction((tx) => body(txOf(tx), maxRows));
        return { deleted, more: deleted === maxRows };
      },
    }),
  };
}

/** The state for a command, or for what a node decides before it has joined the others. */
export function postgresTaskDb(pool: PgPool): StateDb {
  return postgresStateDb({ synced: pool, unsynced: pool }, taskContext());
}

const noLock = () => Promise.reject(new Error("a decision of one statement takes no lock"));

function queriesOf(queries: PgQueries): Queries {
  return {
    all: (statement, ...params) => queries.all(statement, ...params),
    get: (statement, ...params) => queries.get(statement, ...params),
    run: (statement, ...params) => queries.run(statement, ...params),
  };
}
