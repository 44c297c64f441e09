import { createApiKeys, usageSweep } from "../../../src/api-keys/api-key-store.ts";
import { createAudit } from "../../../src/audit/audit-store.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { apiKeyItems } from "../api-key-items.ts";
import { apiKeyStoreContract } from "../api-key-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("API keys in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...apiKeyItems,
      store: createApiKeys(stateDbOf(database.opened, clock), database.node().bootId),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
  apiKeyStoreContract("API keys in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    return {
      store: createApiKeys(db, database.node().bootId),
      audit: createAudit(db),
      sweepUsage: async () => (await usageSweep(db).step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
