import { createPostgresWebhooks } from "../../../../src/webhooks/store/postgres/webhook-store.ts";
import { ownedStoreContract } from "../../../management/owned-store-contract.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { webhookItems } from "../webhook-items.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  ownedStoreContract("webhooks in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    return {
      ...webhookItems,
      store: createPostgresWebhooks(database.opened.main, steadyClock(clock)),
      secretRows: () => database.rows("secrets"),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
