import { createPostgresApps } from "../../../src/apps/postgres/app-store.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { appItems } from "../app-items.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("apps in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...appItems,
      store: createPostgresApps(database.opened.main, steadyClock(clock)),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
