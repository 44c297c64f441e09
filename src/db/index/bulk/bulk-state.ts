import type { IndexDatabase } from "../database.ts";
import { bulkStatement } from "./bulk-statement.ts";

const getState = bulkStatement<{ value: number }, [key: string]>(
  "bulk.state.get",
  "SELECT value FROM bulk_state WHERE key = ?",
);
const putState = bulkStatement<unknown, [key: string, value: number]>(
  "bulk.state.put",
  "INSERT OR REPLACE INTO bulk_state (key, value) VALUES (?, ?)",
);

/** How far a build has come, by key. Written in the transactions of the work itself. */
export class BulkState {
  readonly #db: IndexDatabase;

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  get(key: string): number | undefined {
    return this.#db.get(getState, key)?.value;
  }

  put(key: string, value: number): void {
    this.#db.run(putState, key, value);
  }
}
