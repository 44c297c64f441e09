import { renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { dropEmptyLog } from "../../db/index/upgrade/replace-file.ts";
import { databaseFile } from "../../db/sqlite/open.ts";
import { giveToOwnerOf } from "../../lib/private-file.ts";
import { syncPath } from "../../lib/sync-path.ts";

/** The file into which an index is rewritten. It lies beside the file that a symbolic link names. */
export function compactFileOf(path: string): string {
  return `${databaseFile(path)}.compact`;
}

/** Deletes what an interrupted compaction left behind. */
export function dropCompactFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"])
    rmSync(compactFileOf(path) + suffix, { force: true });
}

/**
 * Puts the rewritten file in the place of the index, whose owner gets it. `path` is no symbolic link. Both must be closed. They hold
 * the same rows, so a crash at any moment leaves one of them, and nothing is lost.
 *
 * @throws UserError when another program has changed the index meanwhile.
 */
export function replaceByCompactFile(path: string): void {
  const file = compactFileOf(path);
  // A log that stayed would be applied to the new file.
  for (const one of [path, file]) dropEmptyLog(one);
  giveToOwnerOf(path, file);
  syncPath(file);
  renameSync(file, path);
  syncPath(dirname(path));
}
