import { createWebhooks } from "../../../../src/webhooks/store/webhook-store.ts";
import { ownedStoreContract } from "../../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { webhookItems } from "../webhook-items.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("webhooks in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...webhookItems,
      store: createWebhooks(stateDbOf(database.opened, clock)),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
