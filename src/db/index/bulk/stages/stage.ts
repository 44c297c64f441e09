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
export interface BulkStage {
  /** In words, for people. */
  readonly name: string;
  /** Its share of the whole work: tenths of a microsecond a message, as measured over 2 million. */
  readonly weight: number;
  /** Does one step inside a transaction. Returns whether the stage is finished. */
  run(context: BuildContext): boolean;
}

/** Returns a stage that is one transaction. */
export function oneStep(name: string, weight: number, work: (context: BuildContext) => void): BulkStage {
  return {
    name,
    weight,
    run(context) {
      work(context);
      return true;
    },
  };
}
