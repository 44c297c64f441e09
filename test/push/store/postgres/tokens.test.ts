import { expect } from "bun:test";
import { createPostgresStores } from "../../../../src/node/state/postgres-stores.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";
import { tokenStoreContract } from "../token-store-contract.ts";
import { WRONG_TOTALS } from "./token-totals.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  tokenStoreContract("tokens in PostgreSQL", async (machine) => {
    const database = await openDatabase();
    const clock = steadyClock(machine);
    const connect = async () =>
      createPostgresStores(database.opened, { node: database.node(), clock, limits: { maxQueued: 1 } });
    const { apps, tokens } = await connect();
    return {
      store: tokens,
      connect: async () => (await connect()).tokens,
      addApp: async (appId) => void (await apps.create(testApp({ appId, secrets: [] }), 1000)),
      deleteApp: async (appId) => void (await apps.delete({ id: appId, ownerFid: 3, nowSecs: 100 })),
      async [Symbol.asyncDispose]() {
        expect(await database.query(WRONG_TOTALS)).toEqual([]);
        await database[Symbol.asyncDispose]();
      },
    };
  });
}
