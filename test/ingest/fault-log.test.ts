import { expect, test } from "bun:test";
import { asStorageError } from "../../src/db/sqlite/storage-error.ts";
import { createIngestFaultLog } from "../../src/ingest/thread/queue.ts";
import { ManualClock } from "../support/clock.ts";
import { logTo } from "../support/log.ts";
import { sqliteError } from "../support/storage-faults.ts";

test("logs a database that cannot be written once a minute, and each record that cannot be stored", () => {
  const messages: unknown[] = [];
  const log = logTo((line: string) => messages.push(JSON.parse(line).msg));
  const clock = new ManualClock(1_700_000_000);
  const onFault = createIngestFaultLog({ log, clock });
  const full = asStorageError({ database: "index", file: "/data/index.db" }, sqliteError("full"));
  for (let n = 0; n < 1000; n++) {
    onFault(full);
    clock.advanceSecs(0.1);
  }
  onFault(new TypeError("poison"));
  onFault(new TypeError("poison"));
  expect(messages).toEqual([
    "The index could not be written",
    "The index could not be written",
    "A record could not be stored",
    "A record could not be stored",
  ]);
});
