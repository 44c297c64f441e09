import { createPostgresApiKeys } from "../../../src/api-keys/postgres/api-key-store.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { apiKeyItems } from "../api-key-items.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("API keys in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...apiKeyItems,
      store: createPostgresApiKeys(database.opened.main, steadyClock(clock)),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
