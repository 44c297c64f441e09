import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { type Mutant, mutated } from "./mutations.ts";

/**
 * Returns the mutants that the compiler accepts; those that it refuses could not be merged, so no test needs to notice them.
 *
 * Each mutant is written beside its source in the copy `root`, where its imports resolve, and one run of the compiler reads all of them.
 * A variable that a mutation leaves unused is accepted: a change that removes a check would also remove what only the check used.
 */
export function compiled(root: string, mutants: readonly Mutant[]): Mutant[] {
  const parsable = mutants.filter(
    (mutant) => parseSync(mutant.file, mutated(mutant.source, mutant)).errors.length === 0,
  );
  const siblings = parsable.map(({ file }, index) => file.replace(/\.ts$/, `~${index}.ts`));
  const config = join(root, "tsconfig.mutants.json");
  const options = {
    extends: "./tsconfig.json",
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
    files: siblings,
    include: ["src/**/*.d.ts"],
  };
  writeFileSync(config, JSON.stringify(options));
  for (const [index, mutant] of parsable.entries()) {
    writeFileSync(join(root, siblings[index] ?? ""), mutated(mutant.source, mutant));
  }
  const { stdout } = Bun.spawnSync([join(root, "node_modules/.bin/tsc"), "-p", config, "--pretty", "false"], {
    cwd: root,
  });
  for (const file of siblings) rmSync(join(root, file), { force: true });
  rmSync(config, { force: true });
  const refused = new Set(stdout.toString().match(/^\S+~\d+\.ts(?=\(\d+,\d+\): error)/gm));
  return parsable.filter((_, index) => !refused.has(siblings[index] ?? ""));
}
