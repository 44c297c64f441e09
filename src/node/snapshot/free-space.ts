import { statfsSync } from "node:fs";
import { UserError } from "../../lib/failure.ts";
import { grouped } from "../../runtime/progress-line.ts";

/** The bytes that this process may still write to the file system of `dir`. */
export function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/** @throws UserError when the file system of `dir` has less than `bytes` of free space. */
export function requireFreeSpace(dir: string, bytes: number, what: string, free = freeBytesOf(dir)): void {
  if (free >= bytes) return;
  throw new UserError(
    `${what} needs ${megabytes(bytes)} of free space in ${dir}, which has ${megabytes(free)}. Nothing was changed.`,
  );
}

export function megabytes(bytes: number): string {
  return `${grouped(bytes / 1e6)} MB`;
}
