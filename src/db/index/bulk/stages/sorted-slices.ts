import type { IndexDatabase } from "../../database.ts";
import { bulkStatement } from "../bulk-state.ts";
import type { BuildContext, BulkStage } from "./stage.ts";

const hasSorted = bulkStatement<{ one: number }, [name: string]>(
  "bulk.sorted.exists",
  "SELECT 1 AS one FROM temp.sqlite_schema WHERE name = ?",
);

export interface SortedRows {
  /** Selects the rows in an order that is the same in every run. */
  readonly select: string;
  /** Takes the rows `after` < rowid <= `upTo` of a table, as selected. In the last call, `upTo` is beyond the last row. */
  readonly take: (context: BuildContext, table: string, after: number, upTo: number) => void;
  readonly prepare?: (context: BuildContext) => void;
  readonly finish?: (context: BuildContext) => void;
}

/**
 * Returns a stage that sorts rows, then takes them in slices, each in its own transaction. The sorted rows are in a
 * temporary table, which is not logged, so the write-ahead log does not grow with the index. After a restart the stage sorts
 * again and continues with the same slice.
 */
export function sortedSlices(name: string, weight: number, rows: SortedRows): BulkStage {
  const sorted = `bulk_sorted_${name.replaceAll(" ", "_")}`;
  const table = `temp.${sorted}`;
  const key = `taken of ${name}`;
  const run = (db: IndexDatabase, sql: string) => db.run({ name: "bulk.sorted", sql });
  const last = { name: "bulk.sorted.last", sql: `SELECT max(rowid) AS n FROM ${table}` };
  return {
    name,
    weight,
    run(context) {
      const { db, state, rowsPerStep } = context;
      if (db.get(hasSorted, sorted) === undefined) {
        rows.prepare?.(context);
        run(db, `CREATE TEMP TABLE ${sorted} AS ${rows.select}`);
        return false;
      }
      const after = state.get(key) ?? 0;
      const upTo = after + rowsPerStep;
      rows.take(context, table, after, upTo);
      state.put(key, upTo);
      if (upTo < (db.get<{ n: number | null }, []>(last)?.n ?? 0)) return false;
      run(db, `DROP TABLE ${table}`);
      rows.finish?.(context);
      return true;
    },
  };
}

/** Returns a function that fills the columns of a table from sorted rows. Existing rows stay. */
export function into(target: string, columns: string): SortedRows["take"] {
  return ({ db }, table, after, upTo) => {
    const sql = `INSERT OR IGNORE INTO ${target} (${columns}) SELECT * FROM ${table} WHERE rowid > ? AND rowid <= ?`;
    db.run<[number, number]>({ name: `bulk.sorted.${target}`, sql }, after, upTo);
  };
}

/** Returns a stage that runs several, one after the other. An unfinished build stores how many are done. */
export function sequence(name: string, ...stages: readonly BulkStage[]): BulkStage {
  const key = `stage of ${name}`;
  return {
    name,
    weight: stages.reduce((sum, { weight }) => sum + weight, 0),
    run(context) {
      const at = context.state.get(key) ?? 0;
      if (stages[at]?.run(context)) context.state.put(key, at + 1);
      return (context.state.get(key) ?? 0) >= stages.length;
    },
  };
}
