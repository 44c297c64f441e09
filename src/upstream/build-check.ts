import { bulkPhaseOf } from "../db/index/bulk/bulk-phase.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { Stage, UpstreamPositions } from "./positions.ts";

/**
 * Returns a function that returns why the index of a node that follows an upstream cannot be read: it is being built in bulk,
 * so it lacks rows and indexes. The function reads the index until blocks are applied for the first time.
 */
export function createBuildCheck(db: IndexDatabase): () => string | undefined {
  const positions = new UpstreamPositions(db);
  let isFilled = false;
  return () => {
    if (isFilled) return undefined;
    if (bulkPhaseOf(db) !== undefined) return "the index is being filled from the upstream";
    isFilled = positions.stage === Stage.Applying;
    return undefined;
  };
}

/**
 * Returns a function that returns whether the index of a node that follows an upstream has been filled once. The function
 * reads the index until it has.
 */
export function createFillCheck(db: IndexDatabase): () => boolean {
  const positions = new UpstreamPositions(db);
  let isFilled = false;
  return () => {
    isFilled ||= positions.isFilled;
    return isFilled;
  };
}
