import { createAudit } from "../../../src/audit/audit-store.ts";
import { createSignInNonceStore, oneTimeNonceSweep } from "../../../src/sign-in/nonce-store.ts";
import { createOneTime, oneTimeSweep } from "../../../src/sign-in/one-time-store.ts";
import { createSignInKeys } from "../../../src/sign-in/tokens/key-store.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { signInStoreContract } from "../store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  signInStoreContract("sign-in in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    const sweeps = [oneTimeSweep(db), oneTimeNonceSweep(db)];
    return {
      nonces: createSignInNonceStore(db),
      oneTime: createOneTime(db),
      keys: createSignInKeys(db),
      audit: createAudit(db),
      rows: (table) => database.rows(table),
      async sweep() {
        let deleted = 0;
        for (const sweep of sweeps) deleted += (await sweep.step(1_000)).deleted;
        return deleted;
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
