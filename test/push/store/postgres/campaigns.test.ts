import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";
import { campaignStoresContract, sweepAll } from "../campaign-stores-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  campaignStoresContract("campaigns in PostgreSQL", async (machine) => {
    const database = await openDatabase();
    const options = { node: database.node(), clock: steadyClock(machine), limits: { maxQueued: 1 } };
    const { campaigns, ledger, apps } = createPostgresStores(database.opened, options);
    const sweeps = createPostgresSweeps(database.opened, options);
    return {
      campaigns,
      ledger,
      addApp: async (appId) => void (await apps.create(testApp({ appId }), 1000)),
      sweep: (name, maxRows) => sweepAll(sweeps, name, maxRows),
      rows: database.rows,
      setLedgerWrites: async (count) =>
        void (await database.query(`UPDATE campaigns SET ledger_writes = ${count}`)),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
