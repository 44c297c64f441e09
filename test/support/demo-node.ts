import { cpSync } from "node:fs";
import { compiledProgram } from "./compiled-program.ts";
import { keptDirectory, removeKept } from "./kept-files.ts";
import { type RunningNode, startNode } from "./program.ts";

/** Kept data is at most this old: the week of the demo network ends when it is made. */
const MAX_AGE_SECS = 1800;
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

/** The data directory of a node that has made the demo network and stopped. */
async function demoData(): Promise<string> {
  const period = Math.floor(Date.now() / 1000 / MAX_AGE_SECS);
  return keptDirectory(`${PREFIX}${period}`, async (dataDir) => {
    // A copy of the data of the last period may still be made.
    removeKept((name) => name.startsWith(PREFIX) && Number(name.slice(PREFIX.length)) < period - 1);
    const node = await startNode({ command: compiledProgram, dataDir, demo: true });
    if ((await node.stop()) !== 0) throw new Error(`the demo node failed: ${node.logs()}`);
  });
}
