import { createPostgresNonces, nonceSweep } from "../../../src/auth/postgres/nonce-store.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { nonceStoreContract } from "../nonce-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  nonceStoreContract("nonces in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const { main } = database.opened;
    const sweep = nonceSweep(main, steadyClock(clock));
    return {
      store: createPostgresNonces(main),
      rows: () => database.rows("nonces"),
      sweep: async (maxRows: number) => sweep(maxRows),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
