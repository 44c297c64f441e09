import { statfsSync } from "node:fs";
import { UserError } from "../../lib/failure.ts";
import { grouped } from "../../runtime/progress-line.ts";

/** @throws UserError when the file system of `dir` has less than `bytes` of free space. */
export function requireFreeSpace(dir: string, bytes: number, what: string): void {
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new UserError(
    `${what} needs ${megabytes(bytes)} of free space in ${dir}, which has ${megabytes(free)}. Nothing was changed.`,
  );
}

export function megabytes(bytes: number): string {
  return `${grouped(bytes / 1e6)} MB`;
}
