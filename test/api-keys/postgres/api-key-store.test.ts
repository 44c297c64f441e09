import { createPostgresApiKeys } from "../../../src/api-keys/postgres/api-key-store.ts";
import { usageSweep } from "../../../src/api-keys/postgres/usage.ts";
import { createAudit } from "../../../src/audit/audit-store.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { apiKeyItems } from "../api-key-items.ts";
import { apiKeyStoreContract } from "../api-key-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("API keys in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...apiKeyItems,
      store: createPostgresApiKeys(database.opened.main, {
        clock: steadyClock(clock),
        node: database.node(),
      }),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
  apiKeyStoreContract("API keys in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const { main } = database.opened;
    return {
      store: createPostgresApiKeys(main, { clock: steadyClock(clock), node: database.node() }),
      audit: createAudit(stateDbOf(database.opened)),
      sweepUsage: async () => (await usageSweep(main, steadyClock(clock))(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
