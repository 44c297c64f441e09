import { rmSync } from "node:fs";
import { join } from "node:path";
import { readSmallFile } from "../config/files/small-file.ts";
import { writePrivateFile } from "../runtime/files.ts";

/** File in the data directory that contains the path of a file to import at the next start, before the node serves. */
export const nextImportFile = (dataDir: string): string => join(dataDir, "import.next");

/**
 * Schedules the import of a file for the next start. The schedule is kept until the import has ended, so that an import that was killed
 * continues.
 */
export function importAtNextStart(dataDir: string, path: string): void {
  writePrivateFile(nextImportFile(dataDir), path);
}

/** Returns the file that this start has to import first; undefined if there is none. */
export function nextImport(dataDir: string): string | undefined {
  return readSmallFile(nextImportFile(dataDir));
}

export function endNextImport(dataDir: string): void {
  rmSync(nextImportFile(dataDir), { force: true });
}
