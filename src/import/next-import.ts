import { rmSync } from "node:fs";
import { join } from "node:path";
import { readSmallFile } from "../config/files/small-file.ts";
import { writePrivateFile } from "../runtime/files.ts";

/** In the data directory: the path of a file that the next start imports before it serves. */
export const nextImportFile = (dataDir: string): string => join(dataDir, "import.next");

/** Has the next start import a file. That lasts until the import has ended, so that one that was killed continues. */
export function importAtNextStart(dataDir: string, path: string): void {
  writePrivateFile(nextImportFile(dataDir), path);
}

/** The file that this start has to import first; undefined without one. */
export function nextImport(dataDir: string): string | undefined {
  return readSmallFile(nextImportFile(dataDir));
}

export function endNextImport(dataDir: string): void {
  rmSync(nextImportFile(dataDir), { force: true });
}
