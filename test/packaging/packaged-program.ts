import { chmodSync, cpSync, writeFileSync } from "node:fs";
import { compiledFile, compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";

/**
 * Writes the program that a test packs to a path: in the long form the compiled one. Otherwise a script that starts it, because
 * packing and unpacking 135 MB takes most of the time of these tests.
 */
export function writePackagedProgram(path: string): string {
  if (IS_LONG) cpSync(compiledFile, path);
  else writeFileSync(path, `#!/bin/sh\nexec ${compiledProgram.join(" ")} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}
