import { createPostgresSeen, seenSweep } from "../../../../src/writes/seen/postgres/seen-store.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { seenStoreContract } from "../seen-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  seenStoreContract("seen notifications in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const { main } = database.opened;
    return {
      seen: createPostgresSeen(main),
      sweep: async () => (await seenSweep(main, steadyClock(clock)).step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
