import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../../lib/failure.ts";
import { giveToOwnerOf, syncPath } from "../../../runtime/files.ts";
import { isOlderIndex } from "./older-index.ts";

/** The file that a migration builds. */
export function newFileOf(path: string): string {
  return `${path}.new`;
}

/** The older index, until the first clean stop of the node. */
export function oldFileOf(path: string): string {
  return `${path}.old`;
}

/**
 * Puts the new file in the place of the index, which stays as the old file. Both must be closed. After a crash at any moment the
 * index is either file, or `restoreIndex` makes it the older one.
 */
export function replaceIndex(path: string): void {
  for (const file of [path, newFileOf(path)]) dropEmptyLog(file);
  giveToOwnerOf(path, newFileOf(path));
  syncPath(newFileOf(path));
  const old = oldFileOf(path);
  if (existsSync(old) && !isReadableOlderIndex(old))
    throw new UserError(`${old} is in the way of the older index: move it away, and run the command again.`);
  rmSync(old, { force: true });
  try {
    linkSync(path, old);
  } catch {
    // A file system without hard links.
    renameSync(path, old);
  }
  renameSync(newFileOf(path), path);
  syncPath(dirname(path));
}

/**
 * Deletes the write-ahead log of a closed database, which SQLite leaves behind in some cases.
 *
 * @throws UserError when it holds changes.
 */
export function dropEmptyLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log && log.size > 0)
    throw new UserError(
      `${path}-wal holds changes of the index: another program has opened it. Stop it, and try again.`,
    );
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/** Undoes a replacement that a crash left without an index. */
export function restoreIndex(path: string): void {
  if (existsSync(path) || !existsSync(newFileOf(path)) || !existsSync(oldFileOf(path))) return;
  renameSync(oldFileOf(path), path);
}

/** Deletes the older index, if there is one. A file of the same name in another format is not of a migration and stays. */
export function dropOldIndex(path: string): void {
  const old = oldFileOf(path);
  if (!isReadableOlderIndex(old)) return;
  for (const suffix of ["", "-wal", "-shm"]) rmSync(old + suffix, { force: true });
}

/** Whether a file is known to be of a migration. A file that cannot be read is not. */
function isReadableOlderIndex(file: string): boolean {
  try {
    return isOlderIndex(file);
  } catch {
    return false;
  }
}

/** Deletes the file that a migration builds. */
export function dropNewFile(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(newFileOf(path) + suffix, { force: true });
}
