import { describe } from "bun:test";
import { createIncidents } from "../../../src/checks/incident-store.ts";
import { postgresTaskDb } from "../../../src/db/postgres/state-db.ts";
import { openStateInMemory } from "../../../src/db/state/database.ts";
import { createNoticeStore } from "../../../src/notices/notice-store.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { localStores } from "../../support/state-stores.ts";
import { noticesContract } from "../notices-contract.ts";

describe("notices over SQLite", () => {
  noticesContract(async () => {
    const db = openStateInMemory();
    const { incidents, notices: store } = localStores(db);
    return { incidents, store, [Symbol.asyncDispose]: async () => db[Symbol.dispose]() };
  });
});

describe.skipIf(!HAS_POSTGRES)("notices over PostgreSQL", () => {
  noticesContract(async () => {
    const database = await createDatabase();
    const db = postgresTaskDb(database.pools().main);
    return {
      incidents: createIncidents(db),
      store: createNoticeStore(db),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
});
