import { readFileSync } from "node:fs";
import { benchRecords } from "../../../../../bench/network.ts";
import { openBulkBuild } from "../../../../../src/db/index/bulk/open-bulk-build.ts";
import { packMessages } from "../../../../../src/db/index/bulk/packed-messages.ts";
import { openIndexWriter } from "../../../../../src/db/index/database.ts";
import { claimNetwork, networkOfIndex } from "../../../../../src/db/index/identity.ts";
import type { SplitMessage } from "../../../../../src/db/index/messages/columns.ts";
import { splitMessage } from "../../../../../src/db/index/messages/split.ts";

/** Builds an index in bulk and prints the most memory that the process had, in KiB. Arguments: path, number of messages. */
const [path = "", count = "0"] = process.argv.slice(2);
using db = openIndexWriter(path);
claimNetwork(db, "mainnet");
const network = networkOfIndex(db);
const bulk = openBulkBuild(db);
let batch: SplitMessage[] = [];
const flush = () => {
  bulk.append([packMessages(batch)]);
  batch = [];
};
for (const record of benchRecords(Number(count), Number(count) / 50)) {
  if (record.kind === "message") batch.push(splitMessage(record.message, network));
  if (batch.length === 10_000) flush();
}
flush();
while (bulk.step());
console.log(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
