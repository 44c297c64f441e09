import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UserError } from "../../../lib/failure.ts";
import { giveToOwnerOf, syncPath } from "../../../runtime/files.ts";
import { removeDatabase } from "../../sqlite/open.ts";
import { isOlderIndex } from "./older-index.ts";

/** Returns the path of the file that a migration builds. */
export function newFileOf(path: string): string {
  return `${path}.new`;
}

/** Returns the path of the older index, which is kept until the first clean stop of the node. */
export function oldFileOf(path: string): string {
  return `${path}.old`;
}

/**
 * Replaces the index with the new file and keeps the index as the old file. Both must be closed. After a crash at any point
 * the index is one of the two files, or `restoreIndex` puts the older one back.
 */
export function replaceIndex(path: string): void {
  for (const file of [path, newFileOf(path)]) dropEmptyLog(file);
  giveToOwnerOf(path, newFileOf(path));
  syncPath(newFileOf(path));
  const old = oldFileOf(path);
  if (existsSync(old) && !isReadableOlderIndex(old))
    throw new UserError(`${old} already exists. Move it aside, and run the command again.`);
  rmSync(old, { force: true });
  try {
    linkSync(path, old);
  } catch {
    // The file system has no hard links.
    renameSync(path, old);
  }
  renameSync(newFileOf(path), path);
  syncPath(dirname(path));
}

/**
 * Deletes the write-ahead log of a closed database, which SQLite sometimes leaves behind.
 *
 * @throws UserError when it contains changes.
 */
export function dropEmptyLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log && log.size > 0)
    throw new UserError(
      `${path}-wal holds changes of the index: another program has opened it. Stop it, and try again.`,
    );
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/** Undoes a replacement that a crash interrupted, leaving no index. */
export function restoreIndex(path: string): void {
  if (existsSync(path) || !existsSync(newFileOf(path)) || !existsSync(oldFileOf(path))) return;
  renameSync(oldFileOf(path), path);
}

/**
 * Deletes the older index, if there is one. A file of the same name in another format does not belong to a migration and is
 * kept.
 */
export function dropOldIndex(path: string): void {
  const old = oldFileOf(path);
  if (!isReadableOlderIndex(old)) return;
  removeDatabase(old);
}

/** Reports whether a file is known to belong to a migration. A file that cannot be read is not. */
function isReadableOlderIndex(file: string): boolean {
  try {
    return isOlderIndex(file);
  } catch {
    return false;
  }
}

/** Deletes the file that a migration builds. */
export function dropNewFile(path: string): void {
  removeDatabase(newFileOf(path));
}
