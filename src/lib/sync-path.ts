import { closeSync, fsyncSync, openSync } from "node:fs";

/** Syncs a file, or the entries of a directory, to the disk. */
export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
