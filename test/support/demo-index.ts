import { copyFileSync } from "node:fs";
import { indexPath } from "../../src/db/index/database.ts";
import { beginDemo } from "../../src/demo/network.ts";
import { ANCHOR_SECS, demoChannelRecords, demoRecords } from "../demo/records.ts";
import { keptDirectory } from "./kept-files.ts";
import { startTestNode, type TestNode } from "./node.ts";

/**
 * An index with the demo network, whose week ends at `nowSecs`, for `startTestApi`. It is validated and merged once for all tests,
 * because its signatures take seconds.
 */
export async function demoIndex(): Promise<{ readonly path: string; readonly nowSecs: number }> {
  const dir = await keptDirectory("index-of-demo-with-owners", (dir) => {
    using node = startTestNode({ nowSecs: ANCHOR_SECS });
    beginDemo(node.db);
    const refused = node.ingestAll(demoRecords()).filter((outcome) => outcome !== "ok");
    if (refused.length > 0) throw new Error(`the node refuses records of the demo network: ${refused[0]}`);
    node.db.sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    copyFileSync(indexPath(node.dir), indexPath(dir));
  });
  return { path: indexPath(dir), nowSecs: ANCHOR_SECS };
}

/** Adds the registered channels of the demo network to its index. */
export function addDemoChannels({ ingestAll }: Pick<TestNode, "ingestAll">): void {
  const refused = ingestAll(demoChannelRecords()).filter((outcome) => outcome !== "ok");
  if (refused.length > 0) throw new Error(`the node refuses channels of the demo network: ${refused[0]}`);
}
