import type { IndexDatabase } from "../database.ts";
import { getPosition } from "../positions.ts";

/** The last fid whose accounts have roots, while they are computed for the first time. */
const COMPUTED = "trie computed";
/** Larger than any fid: the roots of all accounts are kept. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Whether the roots of all accounts are stored, but for those that are marked as out of date. */
export function areRootsKept(db: IndexDatabase): boolean {
  return getPosition(db, COMPUTED) === ALL;
}
