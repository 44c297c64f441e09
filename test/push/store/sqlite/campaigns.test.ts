import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  openState,
  openStateInMemory,
  type StateDatabase,
  statePath,
} from "../../../../src/db/state/database.ts";
import { verifyState } from "../../../../src/node/state/verify.ts";
import { CAMPAIGN_RETENTION_SECS, type CampaignWork } from "../../../../src/push/store/campaign-store.ts";
import { BLOCK_FIDS } from "../../../../src/push/store/fid-block.ts";
import { takeCampaign } from "../../../support/campaigns.ts";
import { ManualClock } from "../../../support/clock.ts";
import { tempDir } from "../../../support/program.ts";
import { localStores, SWEEP_MARGIN_SECS } from "../../../support/state-stores.ts";
import { campaignStoresContract, record } from "../campaign-stores-contract.ts";

campaignStoresContract("campaigns in SQLite", (clock) => {
  const dir = tempDir();
  const db = openState(statePath(dir.path));
  return {
    campaigns: localStores(db, { clock }).campaigns,
    ledger: localStores(db).ledger,
    [Symbol.dispose]() {
      expect(verifyState(db)).toEqual([]);
      db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
});

const rows = (db: StateDatabase, table: string) =>
  db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;

async function makeCampaign(
  db: StateDatabase,
  campaignId: string,
  { createdAt = 100, running = [] }: { createdAt?: number; running?: readonly CampaignWork[] } = {},
) {
  const campaigns = localStores(db).campaigns;
  await campaigns.create(
    {
      campaignId,
      appId: "app",
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      audience: { targetFids: [], excludeFids: [], followingFid: null },
      createdAt,
      ledgerSecs: 86_400,
    },
    100,
  );
  return takeCampaign(campaigns, campaignId, { nowSecs: createdAt, running });
}

/** Fails when a step deletes more than its limit. */
async function sweepAll(db: StateDatabase, name: string, maxRows: number): Promise<number> {
  const sweep = localStores(db).sweeps.find((one) => one.name === name);
  if (!sweep) throw new Error(`there is no sweep ${name}`);
  let total = 0;
  for (;;) {
    const { deleted, more } = await sweep.step(maxRows);
    expect(deleted).toBeLessThanOrEqual(maxRows);
    total += deleted;
    if (!more) return total;
  }
}

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
}, 20_000);

test("the ledger of a notification is swept in small steps when all of it has expired", async () => {
  using db = openStateInMemory();
  const clock = new ManualClock(100);
  const { ledger } = localStores(db, { clock });
  const work = await makeCampaign(db, "c1");
  // Each in its own row.
  const tokens = Array.from({ length: 95 }, (_, at) => ({ fid: at * BLOCK_FIDS, clientFid: 1 }));
  await ledger.claim(work, tokens, 30);
  await record(
    ledger,
    work,
    "h",
    tokens.map((token) => ({ ...token, kind: "success", reason: "", isRetryable: false })),
    5_000_000,
  );
  clock.setSecs(5_000_100);
  // The ledger of an unfinished campaign stays, however old it is.
  expect(await sweepAll(db, "dedupe", 10)).toBe(0);
  await localStores(db).campaigns.end(work, "completed", 200);
  expect(await sweepAll(db, "dedupe", 10)).toBe(95);
  expect([rows(db, "dedupe"), rows(db, "dedupe_keys")]).toEqual([0, 0]);
});

test("a finished campaign and its rows are deleted 30 days after its creation", async () => {
  using db = openStateInMemory();
  const clock = new ManualClock(100);
  const { ledger, campaigns } = localStores(db, { clock });
  const old = await makeCampaign(db, "old");
  const running = await makeCampaign(db, "running", { running: [old] });
  const young = await makeCampaign(db, "young", { createdAt: 200, running: [old, running] });
  for (const work of [old, running, young]) {
    const settlements = Array.from({ length: 25 }, (_, at) => ({ fid: at * BLOCK_FIDS, clientFid: 1 })).map(
      (token) => ({
        ...token,
        kind: "failure" as const,
        reason: "rate_limited",
        isRetryable: true,
      }),
    );
    await record(ledger, work, "h", settlements, 1);
  }
  await campaigns.end(old, "completed", 150);
  await campaigns.end(young, "completed", 250);

  expect(await sweepAll(db, "campaign_progress", 10)).toBe(50);
  expect(rows(db, "campaign_failures")).toBe(25);
  clock.setSecs(99 + CAMPAIGN_RETENTION_SECS + SWEEP_MARGIN_SECS);
  expect(await sweepAll(db, "campaigns", 10)).toBe(0);
  clock.advanceSecs(1);
  // Its row, its two counts and its retryable fids.
  expect(await sweepAll(db, "campaigns", 10)).toBe(28);
  expect(await campaigns.find("old")).toBeUndefined();
  expect(await campaigns.find("running")).toBeDefined();
  expect(await campaigns.retryableFids("young", -1, 100)).toHaveLength(25);
});
