import { createCustodies, custodySweep } from "../../../src/auth/owners/custody-store.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { custodyStoreContract } from "../custody-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  custodyStoreContract("owners in PostgreSQL", async (clock, readyLagSecs) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    return {
      store: createCustodies(db, { clock, readyLagSecs }),
      rows: () => database.rows("custodies"),
      sweep: () => custodySweep(db).step(1_000),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
