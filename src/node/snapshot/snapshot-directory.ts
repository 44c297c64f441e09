import { SQLiteError } from "bun:sqlite";
import { existsSync, mkdirSync, renameSync, rmdirSync, rmSync, statfsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RetryableError, UserError } from "../../lib/failure.ts";
import { LOCK_FILES, lockDirectory } from "../../runtime/data-dir.ts";
import { syncPath } from "../../runtime/files.ts";
import { grouped } from "../../runtime/progress-line.ts";
import { compressedFile, MANIFEST_FILE, SNAPSHOT_PARTS, type SnapshotPart } from "./places/snapshot-files.ts";
import { deleteUnfinishedCopies } from "./unfinished-copy.ts";

/** A snapshot in progress, in a directory that no other process uses. */
export interface SnapshotDirectory extends Disposable {
  readonly path: string;
  /** Returns the path of the uncompressed copy of a database. */
  plainFile(part: SnapshotPart): string;
  /** Renames the directory to its final name. The files in it must be synced. */
  complete(): void;
}

const PARTIAL = ".partial";

/**
 * Creates the directory `<dir>.partial`, which becomes `dir` when the snapshot is complete. Anything that a killed process left there is
 * deleted. Disposing deletes it unless it is complete.
 *
 * @throws UserError if `dir` exists or cannot be created; RetryableError if another process makes the same snapshot.
 */
export function createSnapshotDirectory(dir: string): SnapshotDirectory {
  const target = resolve(dir);
  if (existsSync(target)) throw new UserError(`${target} already exists. Name a directory that does not.`);
  const path = `${target}${PARTIAL}`;
  const release = lockPartial(path);
  let isComplete = false;
  deleteFiles(path);
  return {
    path,
    plainFile: (part) => plainFile(path, part),
    complete() {
      deleteUnfinished(path);
      syncPath(path);
      renameSync(path, target);
      isComplete = true;
      syncPath(dirname(target));
      release();
      for (const name of LOCK_FILES) rmSync(join(target, name), { force: true });
    },
    [Symbol.dispose]() {
      if (isComplete) return;
      deleteFiles(path);
      deleteDirectory(path, release);
    },
  };
}

/** Reports whether a name is that of a snapshot in progress, or of one whose process was killed. */
export function isPartial(name: string): boolean {
  return basename(name).endsWith(PARTIAL);
}

/** Deletes what a killed process left of a snapshot. Does nothing while that process is alive. Foreign files stay. */
export function deletePartial(path: string): void {
  try {
    const release = lockPartial(path);
    deleteFiles(path);
    deleteDirectory(path, release);
  } catch (cause) {
    if (!(cause instanceof RetryableError)) throw cause;
  }
}

/**
 * Deletes a complete snapshot. Its manifest is deleted first, so that if the process is killed, the rest is not a snapshot. Foreign files
 * stay.
 */
export function deleteSnapshot(path: string): void {
  rmSync(join(path, MANIFEST_FILE), { force: true });
  deleteFiles(path);
  deleteDirectory(path, () => {});
}

function lockPartial(path: string): () => void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const isNew = !existsSync(path);
  try {
    return lockDirectory(path, {
      what: "directory",
      inUse: (holder) => `${path} is in use by ${holder}, which makes the same snapshot`,
    });
  } catch (cause) {
    // The lock may also fail for other reasons, such as a full disk. A directory that another process has locked is not ours.
    const isInUse =
      cause instanceof Error && cause.cause instanceof SQLiteError && cause.cause.code === "SQLITE_BUSY";
    if (isNew && !isInUse) deleteNew(path);
    throw cause;
  }
}

function plainFile(path: string, part: SnapshotPart): string {
  return join(path, `${part}.db`);
}

function deleteUnfinished(path: string): void {
  for (const part of SNAPSHOT_PARTS) deleteUnfinishedCopies(plainFile(path, part));
}

function deleteFiles(path: string): void {
  deleteUnfinished(path);
  rmSync(join(path, MANIFEST_FILE), { force: true });
  for (const part of SNAPSHOT_PARTS) {
    const plain = plainFile(path, part);
    for (const file of [
      plain,
      `${plain}-wal`,
      `${plain}-shm`,
      `${plain}-journal`,
      join(path, compressedFile(part)),
    ])
      rmSync(file, { force: true });
  }
}

function deleteDirectory(path: string, release: () => void): void {
  for (const name of LOCK_FILES) rmSync(join(path, name), { force: true });
  release();
  try {
    rmdirSync(path);
  } catch {
    // The directory contains foreign files.
  }
}

/** Deletes a directory that this process has created but could not lock, as far as the disk allows. */
function deleteNew(path: string): void {
  for (const remove of [...LOCK_FILES.map((name) => () => rmSync(join(path, name))), () => rmdirSync(path)])
    try {
      remove();
    } catch {
      // The directory does not exist, or the fault that is thrown says more.
    }
}

/** Returns how many bytes this process may still write to the file system of `dir`. */
export function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/** @throws UserError if the file system of `dir` has less than `bytes` of free space. */
export function requireFreeSpace(dir: string, bytes: number, what: string, free = freeBytesOf(dir)): void {
  if (free >= bytes) return;
  throw new UserError(
    `${what} needs ${megabytes(bytes)} of free space in ${dir}, which has ${megabytes(free)}. Nothing was changed.`,
  );
}

export function megabytes(bytes: number): string {
  return `${grouped(bytes / 1e6)} MB`;
}
