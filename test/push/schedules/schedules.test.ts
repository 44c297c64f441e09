import { openState, statePath } from "../../../src/db/state/database.ts";
import { tempDir } from "../../support/program.ts";
import { APP_ID, insertTokens, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import { scheduleStoresContract, swept } from "./schedule-stores-contract.ts";

scheduleStoresContract("schedules in SQLite", async (clock) => {
  const dir = tempDir();
  const db = openState(statePath(dir.path));
  const stores = localStores(db, { clock });
  return {
    ...stores,
    addApp: async (appId) => void (await stores.apps.create(testApp({ appId }), 100)),
    deleteApp: async (id) => void (await stores.apps.delete({ id, ownerFid: 3, nowSecs: 1 })),
    addToken: async (fid) =>
      insertTokens(db, [{ appId: APP_ID, fid, url: "https://c.example/", token: `t${fid}` }]),
    sweep: (name) => swept(stores.sweeps, name),
    rows: async (table) =>
      db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1,
    async [Symbol.asyncDispose]() {
      db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
});
