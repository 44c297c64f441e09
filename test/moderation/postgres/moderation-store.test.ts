import { createAudit } from "../../../src/audit/audit-store.ts";
import { createModeration } from "../../../src/moderation/moderation-store.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { moderationStoreContract } from "../moderation-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  moderationStoreContract("moderation in PostgreSQL", async () => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, systemClock);
    return {
      store: createModeration(db),
      audit: createAudit(db),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
