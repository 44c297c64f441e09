import { createAudit } from "../../../src/audit/audit-store.ts";
import { readerStateDb } from "../../../src/db/state/sqlite-state-db.ts";
import { createModeration } from "../../../src/moderation/moderation-store.ts";
import { openWriterOf } from "../../../src/node/state/open-writer.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { openStateFile } from "../../support/state-file.ts";
import { moderationStoreContract } from "../moderation-store-contract.ts";

moderationStoreContract("moderation in SQLite", async () => {
  const { db, ...file } = openStateFile();
  const writer = openWriterOf(db, { limits: { maxQueued: 1 }, clock: systemClock, node: undefined });
  const stateDb = readerStateDb(db, writer.call.bind(writer));
  return {
    store: createModeration(stateDb),
    audit: createAudit(stateDb),
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
