import { writeSync } from "node:fs";
import { canBulkBuild, isBulkBuilding } from "../../../../../src/db/index/bulk/bulk-state.ts";
import { openIndexWriter } from "../../../../../src/db/index/database.ts";
import { claimNetwork } from "../../../../../src/db/index/identity.ts";
import { bulkFill } from "../../../../support/bulk-fill.ts";
import { wildMessages } from "../../../../support/wild-network.ts";

/** Fills an index in bulk, from wherever an earlier process was killed. Arguments: its path, a seed, a number of messages. */
const [path = "", seed = "", count = "0"] = process.argv.slice(2);
using db = openIndexWriter(path);
claimNetwork(db, "mainnet");
if (isBulkBuilding(db) || canBulkBuild(db)) {
  const fill = bulkFill(db, wildMessages(seed, Number(count)), 10);
  while (fill.next()) {
    // One write for each transaction, so that the parent can count them.
    writeSync(1, "transaction\n");
    await Bun.sleep(1);
  }
}
