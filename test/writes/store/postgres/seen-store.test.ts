import { createSeen, seenSweep } from "../../../../src/writes/store/seen-store.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { seenStoreContract } from "../seen-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  seenStoreContract("seen notifications in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    return {
      seen: createSeen(db),
      sweep: async () => (await seenSweep(db).step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
