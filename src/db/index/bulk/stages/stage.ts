import type { IndexDatabase } from "../../database.ts";
import type { BulkState } from "../bulk-state.ts";

/** The dependencies of a stage of the build. */
export interface BuildContext {
  readonly db: IndexDatabase;
  readonly state: BulkState;
  /** Rows of a transaction where a stage can divide its work. */
  readonly rowsPerStep: number;
  /** Rows of a transaction where a stage sorts: each reads all rows again. */
  readonly rowsPerSort: number;
}

/** A stage of the build. Its marks are in the transactions of its work. */
export type BulkStage = ReturnType<typeof oneStep>;

/** Returns a stage that is one transaction. */
export function oneStep(name: string, weight: number, work: (context: BuildContext) => void) {
  return {
    /** In words, for people. */
    name,
    /** Its share of the whole work: tenths of a microsecond a message, as measured over 2 million. */
    weight,
    /** Does one step inside a transaction. Returns whether the stage is finished. */
    run(context: BuildContext): boolean {
      work(context);
      return true;
    },
  };
}
