import { writeSync } from "node:fs";
import { openIndexWriter } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { createImportSink } from "../../../src/import/import-sink.ts";
import { runImport } from "../../../src/import/run-import.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { ANCHOR_SECS } from "../../demo/records.ts";
import { ManualClock } from "../../support/clock.ts";
import { unverifiedRecords } from "../../support/unverified-records.ts";

/** Imports a file in bulk, without validation, from wherever an earlier process was killed. Arguments: the index, the file. */
const [index = "", path = ""] = process.argv.slice(2);
using db = openIndexWriter(index);
claimNetwork(db, "mainnet");
const clock = new ManualClock(ANCHOR_SECS);
const onFault = (cause: unknown) => {
  throw cause;
};
const engine = createIngestEngine({
  db,
  network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
  clock,
  onFault,
});
const verifier = {
  verifyPage: async () => [],
  verifySnapshot: async () => [],
  validateRecords: async (records: readonly EncodedRecord[]) => unverifiedRecords(records),
};
const { outcome } = await runImport({
  path,
  sink: createImportSink({ db, engine, verifier, fileBytes: 1e7 }),
  positions: { get: (key) => getPosition(db, key) },
  clock,
  batchRecords: 50,
  // One write for each transaction, so that the parent can count them.
  onProgress: () => writeSync(1, "transaction\n"),
});
if (outcome !== "complete") throw new Error(outcome);
