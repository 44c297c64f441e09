import { createAudit } from "../../../../src/audit/audit-store.ts";
import { createPostgresSweeps } from "../../../../src/node/state/postgres-stores.ts";
import { createPostgresWrites } from "../../../../src/writes/store/postgres/write-store.ts";
import { ManualClock } from "../../../support/clock.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { writeStoreContract } from "../write-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  writeStoreContract("writes in PostgreSQL", async () => {
    const database = await openDatabase();
    const clock = new ManualClock(1_000_000);
    const stateClock = steadyClock(clock);
    return {
      clock,
      open(node = database.node()) {
        const options = { clock: stateClock, node };
        return {
          store: createPostgresWrites(database.opened.main, options),
          sweeps: createPostgresSweeps(database.opened, options),
          audit: createAudit(stateDbOf(database.opened)),
        };
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
