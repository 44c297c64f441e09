import { join } from "node:path";
import { keptDirectory } from "./kept-files.ts";
import { compileInto } from "./program.ts";

/**
 * The command of the compiled program. It lies apart from the checkout, and is built once for each state of the sources:
 * a node starts from it with a quarter of the CPU time that it needs from the sources.
 */
export const compiledProgram: readonly string[] = [
  join(await keptDirectory("program", (dir) => compileInto(dir)), "svc"),
];
