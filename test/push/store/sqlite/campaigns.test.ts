import { expect, test } from "bun:test";
import { join } from "node:path";
import { openState, type StateDatabase, statePath } from "../../../../src/db/state/database.ts";
import { verifyState } from "../../../../src/node/state/verify.ts";
import type { CampaignWork } from "../../../../src/push/store/campaigns/campaign-store.ts";
import { takeCampaign } from "../../../support/campaigns.ts";
import { ManualClock } from "../../../support/clock.ts";
import { tempDir } from "../../../support/program.ts";
import { testApp } from "../../../support/send.ts";
import { localStores } from "../../../support/state-stores.ts";
import { campaignStoresContract, sweepAll } from "../campaign-stores-contract.ts";

campaignStoresContract("campaigns in SQLite", async (clock) => {
  const dir = tempDir();
  const db = openState(statePath(dir.path));
  const { campaigns, ledger, apps } = localStores(db, { clock });
  return {
    campaigns,
    ledger,
    addApp: async (appId) => void (await apps.create(testApp({ appId }), 1000)),
    sweep: (name, maxRows) => sweepAll(localStores(db).sweeps, name, maxRows),
    rows: async (table) => rows(db, table),
    setLedgerWrites: async (count) => void db.sqlite.run("UPDATE campaigns SET ledger_writes = ?", [count]),
    async [Symbol.asyncDispose]() {
      expect(verifyState(db)).toEqual([]);
      db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
});

const rows = (db: StateDatabase, table: string) =>
  db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;

const createCampaign = (db: StateDatabase, campaignId: string, ledgerSecs = 86_400) =>
  localStores(db).campaigns.create(
    {
      campaignId,
      appId: "app",
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      audience: { targetFids: [], excludeFids: [], followingFid: null },
      createdAt: 100,
      ledgerSecs,
    },
    100,
  );

async function makeCampaign(
  db: StateDatabase,
  campaignId: string,
  { ledgerSecs, running }: { readonly ledgerSecs?: number; readonly running?: readonly CampaignWork[] } = {},
) {
  await createCampaign(db, campaignId, ledgerSecs);
  return takeCampaign(localStores(db).campaigns, campaignId, { running });
}

test("a run knows whether it takes over from another process, where the ledger may have expired", async () => {
  using dir = tempDir();
  using db = openState(statePath(dir.path));
  using later = openState(statePath(dir.path));
  const clock = new ManualClock(100);
  const [own, other] = [db, later].map((connection) => localStores(connection, { clock }).campaigns);
  if (!own || !other) throw new Error("there are no stores");
  // The first run of a new campaign in the process that created it.
  const first = await makeCampaign(db, "c1", { ledgerSecs: 0 });
  expect(first).toMatchObject({ runs: 1, isTakenOver: false, isLedgerExpired: false });
  const second = await takeCampaign(other, "c1");
  expect(second).toMatchObject({ runs: 2, isTakenOver: true, isLedgerExpired: true });
  await other.release(second, 0);
  const third = await takeCampaign(own, "c1");
  expect(third).toMatchObject({ runs: 3, isTakenOver: false, isLedgerExpired: true });
});

test("the ledger of a campaign that is taken over expires at the end of its time, and not before", async () => {
  using dir = tempDir();
  using db = openState(statePath(dir.path));
  using later = openState(statePath(dir.path));
  const clock = new ManualClock(100);
  const [own, other] = [db, later].map((connection) => localStores(connection, { clock }).campaigns);
  if (!own || !other) throw new Error("there are no stores");
  await makeCampaign(db, "c1", { ledgerSecs: 60 });
  clock.setSecs(159);
  expect(await takeCampaign(other, "c1")).toMatchObject({ isTakenOver: true, isLedgerExpired: false });
  clock.setSecs(160);
  expect(await takeCampaign(own, "c1")).toMatchObject({ isTakenOver: true, isLedgerExpired: true });
  // Also if its response was lost, and the same process takes it again.
  expect(await takeCampaign(own, "c1")).toMatchObject({ isTakenOver: false, isLedgerExpired: true });
});

test("the ledger of a campaign has expired if its process ended before the first run, and for too long", async () => {
  using dir = tempDir();
  using db = openState(statePath(dir.path));
  using later = openState(statePath(dir.path));
  const clock = new ManualClock(100);
  const [own, other] = [db, later].map((connection) => localStores(connection, { clock }).campaigns);
  if (!own || !other) throw new Error("there are no stores");
  await createCampaign(db, "c1", 60);
  clock.setSecs(160);
  const run = await takeCampaign(other, "c1");
  expect(run).toMatchObject({ runs: 1, isTakenOver: true, isLedgerExpired: true });
});

test("no token is claimed by both of two concurrent processes", async () => {
  using dir = tempDir();
  using db = openState(statePath(dir.path));
  const first = await makeCampaign(db, "c1");
  const works = [first, await makeCampaign(db, "c2", { running: [first] })];
  const bootId = db.sqlite.query<{ runner: string }, []>("SELECT runner FROM campaigns").get()?.runner ?? "";
  const count = 3_000;
  const script = join(import.meta.dir, "processes/claim-tokens.ts");
  const children = works.map((work) =>
    Bun.spawn([process.execPath, script, dir.path, bootId, JSON.stringify(work), String(count)], {
      stdin: "pipe",
      stdout: "pipe",
    }),
  );
  const outputs = children.map((child) => child.stdout.getReader());
  const decoder = new TextDecoder();
  for (const output of outputs) {
    expect(decoder.decode((await output.read()).value)).toBe("ready\n");
  }
  for (const child of children) {
    child.stdin.write("go\n");
    child.stdin.end();
  }
  const claimed: number[][] = [];
  for (const output of outputs) {
    let text = "";
    for (let part = await output.read(); !part.done; part = await output.read())
      text += decoder.decode(part.value);
    claimed.push(JSON.parse(text));
  }
  const all = claimed.flat();
  expect(all).toHaveLength(count);
  expect(new Set(all).size).toBe(count);
}, 180_000);
