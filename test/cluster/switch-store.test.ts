import { describe } from "bun:test";
import { createPostgresSwitches } from "../../src/cluster/postgres/switch-store.ts";
import { createSwitches } from "../../src/cluster/sqlite/switch-store.ts";
import { openStateInMemory } from "../../src/db/state/database.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import { switchStoreContract } from "./switch-store-contract.ts";

describe("the switches in SQLite", () => {
  switchStoreContract(async () => {
    const db = openStateInMemory();
    return { switches: createSwitches(db), [Symbol.asyncDispose]: async () => db[Symbol.dispose]() };
  });
});

describe.skipIf(!HAS_POSTGRES)("the switches in PostgreSQL", () => {
  switchStoreContract(async () => {
    const database = await createDatabase();
    return {
      switches: createPostgresSwitches(database.pools().main),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
});
