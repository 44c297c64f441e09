import { describe } from "bun:test";
import { createSwitches } from "../../src/cluster/switch-store.ts";
import { postgresTaskDb } from "../../src/db/postgres/state-db.ts";
import { openStateInMemory } from "../../src/db/state/database.ts";
import { taskStateDb } from "../../src/db/state/sqlite-state-db.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { switchStoreContract } from "./switch-store-contract.ts";

describe("the switches in SQLite", () => {
  switchStoreContract(async () => {
    const db = openStateInMemory();
    return {
      switches: createSwitches(taskStateDb(db)),
      [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
    };
  });
});

describe.skipIf(!HAS_POSTGRES)("the switches in PostgreSQL", () => {
  switchStoreContract(async () => {
    const database = await createDatabase();
    return {
      switches: createSwitches(postgresTaskDb(database.pools().main)),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
});
