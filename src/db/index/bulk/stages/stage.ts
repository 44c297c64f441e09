import type { IndexDatabase } from "../../database.ts";
import type { BulkState } from "../bulk-state.ts";

/** The dependencies of a stage of the build. */
export interface BuildContext {
  readonly db: IndexDatabase;
  readonly state: BulkState;
  /** Rows per transaction where a stage can divide its work. */
  readonly rowsPerStep: number;
  /** Rows per transaction where a stage sorts, which reads all rows again each time. */
  readonly rowsPerSort: number;
}

/** A stage of the build. It records its progress in the transactions of its work. */
export type BulkStage = ReturnType<typeof oneStep>;

/** Returns a stage that is one transaction. */
export function oneStep(name: string, weight: number, work: (context: BuildContext) => void) {
  return {
    /** For operators. */
    name,
    /** Cost of the stage in tenths of a microsecond per message, measured over 2 million messages. */
    weight,
    /** Does one step inside a transaction. Returns whether the stage is finished. */
    run(context: BuildContext): boolean {
      work(context);
      return true;
    },
  };
}
