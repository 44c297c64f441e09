import { expect, test } from "bun:test";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { roomBeside } from "../../support/campaigns.ts";
import { ManualClock } from "../../support/clock.ts";
import { tempDir } from "../../support/program.ts";
import { APP_ID, insertTokens, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import {
  campaign,
  limits,
  START,
  schedule,
  scheduleStoresContract,
  swept,
} from "./schedule-stores-contract.ts";

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

test("a campaign whose schedule the database has lost is not taken: without its audience it would reach everyone", async () => {
  using dir = tempDir();
  using db = openState(statePath(dir.path));
  const stores = localStores(db, { clock: new ManualClock(START) });
  await stores.schedules.create(schedule("s"), 10);
  const [wave] = await stores.schedules.due(START, 10);
  if (!wave) throw new Error("no wave is due");
  await stores.schedules.fire(wave, campaign("c"), limits);
  db.sqlite.run("DELETE FROM schedule_waves");
  db.sqlite.run("DELETE FROM schedules");
  expect(await stores.campaigns.take(roomBeside(), START)).toEqual([]);
});
