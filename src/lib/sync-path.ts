import { closeSync, fstatSync, fsyncSync, openSync } from "node:fs";

/** Errors of file systems, such as SMB, that cannot sync a directory. */
const NO_DIRECTORY_SYNC: ReadonlySet<unknown> = new Set(["EINVAL", "ENOTSUP", "EBADF"]);

/** Syncs a file, or the entries of a directory, to the disk. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } catch (cause) {
    const isUnable = cause instanceof Error && "code" in cause && NO_DIRECTORY_SYNC.has(cause.code);
    if (!isUnable || !fstatSync(handle).isDirectory()) throw cause;
  } finally {
    closeSync(handle);
  }
}
