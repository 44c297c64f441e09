import { createNonces, nonceSweep } from "../../../src/auth/nonce-store.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { nonceStoreContract } from "../nonce-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  nonceStoreContract("nonces in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    return {
      store: createNonces(db),
      rows: () => database.rows("nonces"),
      sweep: (maxRows: number) => nonceSweep(db).step(maxRows),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
