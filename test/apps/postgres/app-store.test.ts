import { createApps } from "../../../src/apps/app-store.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { appItems } from "../app-items.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("apps in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...appItems,
      store: createApps(stateDbOf(database.opened, clock)),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
