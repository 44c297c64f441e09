import { chmodSync } from "node:fs";
import { join } from "node:path";
import { keptDirectory } from "./kept-files.ts";
import { IS_LONG } from "./long.ts";
import { compileInto } from "./program.ts";

/** The compiled program. It is apart from the checkout, where every user may run it, and is built once for each state of the sources. */
export const compiledFile = join(
  await keptDirectory("program", async (dir) => {
    await compileInto(dir);
    chmodSync(dir, 0o755);
  }),
  "svc",
);

/**
 * The command of the compiled program: a node starts from it with a quarter of the CPU time that it needs from the sources. In the
 * suite it runs without the last optimizing compiler, which costs a node that lives for seconds more CPU time than it saves.
 */
export const compiledProgram: readonly string[] = IS_LONG
  ? [compiledFile]
  : ["/usr/bin/env", "BUN_JSC_useFTLJIT=0", compiledFile];
