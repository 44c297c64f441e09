import { removeDatabase } from "../../sqlite/open.ts";

/** Returns the path of the scratch database of a verification. */
export function scratchFileOf(path: string): string {
  return `${path}.verify`;
}

/** Deletes what an interrupted verification left behind, which may be as large as the index. */
export function dropScratchFile(path: string): void {
  removeDatabase(scratchFileOf(path));
}
