import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { APP_ID, testApp } from "../../../support/send.ts";
import { scheduleStoresContract, swept } from "../schedule-stores-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  scheduleStoresContract("schedules in PostgreSQL", async (machine) => {
    const database = await openDatabase();
    const options = { node: database.node(), clock: steadyClock(machine), limits: { maxQueued: 1 } };
    const stores = createPostgresStores(database.opened, options);
    const sweeps = createPostgresSweeps(database.opened, options);
    return {
      ...stores,
      addApp: async (appId) => void (await stores.apps.create(testApp({ appId }), 100)),
      deleteApp: async (id) => void (await stores.apps.delete({ id, ownerFid: 3, nowSecs: 1 })),
      addToken: async (fid) =>
        void (await database.query(
          `INSERT INTO tokens (app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at)
           VALUES ('${APP_ID}', ${fid}, 9, 'https://c.example/', 'c.example', 't', true, 'miniapp_added', 1, 1)`,
        )),
      sweep: (name) => swept(sweeps, name),
      rows: database.rows,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
