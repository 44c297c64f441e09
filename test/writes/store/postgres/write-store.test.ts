import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import { ManualClock } from "../../../support/clock.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
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
        const options = { clock: stateClock, node, limits: { maxQueued: 10 } };
        const { writes, audit } = createPostgresStores(database.opened, options);
        return { store: writes, sweeps: createPostgresSweeps(database.opened, options), audit };
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
