import { databaseFile, removeDatabase } from "../../db/sqlite/open.ts";
import { deleteUnfinishedCopies } from "../snapshot/unfinished-copy.ts";

/** Returns the file into which an index is rewritten. It is next to the file to which a symbolic link points. */
export function compactFileOf(path: string): string {
  return `${databaseFile(path)}.compact`;
}

/** Deletes what an interrupted compaction left behind. */
export function dropCompactFile(path: string): void {
  removeDatabase(compactFileOf(path));
  deleteUnfinishedCopies(compactFileOf(path));
}
