import type { IndexDatabase } from "../database.ts";
import type { FormerIndex } from "./former-index.ts";

/** A table with another number of rows than in the former file. */
export interface CountDifference {
  readonly table: string;
  readonly before: number;
  readonly after: number;
}

/** Compares the numbers of rows of tables that both formats have. Reads every table once. */
export function compareTables(
  former: FormerIndex,
  db: IndexDatabase,
  tables: readonly string[],
): CountDifference[] {
  return tables
    .map((table) => ({ table, before: former.rowsIn(table), after: rowsIn(db, table) }))
    .filter(({ before, after }) => before !== after);
}

/** The stores whose number of messages differs. */
export function compareStores(former: FormerIndex, db: IndexDatabase): CountDifference[] {
  const before = former.storeCounts();
  const after = new Map(
    db.sqlite
      .query<{ store: number; n: number }, []>(
        "SELECT store, sum(used) AS n FROM store_counts GROUP BY store",
      )
      .all()
      .map(({ store, n }) => [store, n]),
  );
  const stores = new Set([...before.keys(), ...after.keys()]);
  return [...stores]
    .map((store) => ({
      table: `store ${store}`,
      before: before.get(store) ?? 0,
      after: after.get(store) ?? 0,
    }))
    .filter((difference) => difference.before !== difference.after);
}

function rowsIn(db: IndexDatabase, table: string): number {
  return db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
}
