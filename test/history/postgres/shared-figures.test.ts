import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../src/node/state/postgres/open-postgres.ts";
import { swept } from "../../push/schedules/schedule-stores-contract.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { sharedFiguresContract } from "../shared-figures-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  sharedFiguresContract("shared figures in PostgreSQL", async (machine) => {
    const database = await openDatabase();
    const options = { node: database.node(), clock: steadyClock(machine), limits: { maxQueued: 1 } };
    const sweeps = createPostgresSweeps(database.opened, options);
    return {
      ...createPostgresStores(database.opened, options),
      sweep: (name) => swept(sweeps, name),
      rows: database.rows,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
