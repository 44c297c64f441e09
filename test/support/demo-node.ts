import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { compiledProgram } from "./compiled-program.ts";
import { type RunningNode, startNode } from "./program.ts";

/** Kept data is at most this old: the week of the demo network ends when it is made. */
const MAX_AGE_SECS = 600;
const PREFIX = "demo-";

/**
 * Starts the compiled program with the demo network, over a copy of data that tests share: its messages need two seconds to
 * sign. A test of how the network is made starts `serve --demo` over an empty directory.
 */
export async function startDemoNode(options: {
  /** Does not exist yet. */
  readonly dataDir: string;
  readonly args?: readonly string[];
  /** Default: the compiled program. */
  readonly command?: readonly string[];
}): Promise<RunningNode> {
  cpSync(await demoData(), options.dataDir, { recursive: true });
  return startNode({ command: compiledProgram, demo: true, ...options });
}

/** The data directory of a node that has made the demo network and stopped; beside the program that made it. */
async function demoData(): Promise<string> {
  const parent = dirname(compiledProgram[0] ?? "");
  const period = Math.floor(Date.now() / 1000 / MAX_AGE_SECS);
  const kept = join(parent, `${PREFIX}${period}`);
  if (existsSync(kept)) return kept;
  // A copy of the data of the last period may still be made.
  const isOld = (file: string) => file.startsWith(PREFIX) && Number(file.slice(PREFIX.length)) < period - 1;
  for (const old of readdirSync(parent).filter(isOld))
    rmSync(join(parent, old), { recursive: true, force: true });
  const aside = mkdtempSync(join(parent, "new-"));
  try {
    const node = await startNode({ command: compiledProgram, dataDir: aside, demo: true });
    if ((await node.stop()) !== 0) throw new Error(`the demo node failed: ${node.logs()}`);
    renameSync(aside, kept);
  } catch (cause) {
    // Another process may have been first.
    if (!existsSync(kept)) throw cause;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return kept;
}
