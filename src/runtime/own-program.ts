import { join } from "node:path";

/** The path of files in a compiled program. */
const COMPILED = "/$bunfs/";

/** The command that starts this program again: the compiled binary, or the runtime with the sources. */
export function ownProgram(): readonly string[] {
  if (import.meta.dir.startsWith(COMPILED)) return [process.execPath];
  return [process.execPath, join(import.meta.dir, "../main.ts")];
}
