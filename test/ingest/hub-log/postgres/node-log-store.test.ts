import { createNodeLogs } from "../../../../src/ingest/hub-log/node-log-store.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { nodeLogStoreContract } from "../node-log-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  nodeLogStoreContract("logs of nodes in PostgreSQL", async () => {
    const database = await openDatabase();
    return {
      store: createNodeLogs(stateDbOf(database.opened)),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
