import { afterEach, beforeEach, expect, test } from "bun:test";
import { openState, type StateDatabase, statePath } from "../../../../src/db/state/database.ts";
import { taskStateDb } from "../../../../src/db/state/sqlite-state-db.ts";
import type { CampaignRoom, CampaignRun } from "../../../../src/push/store/campaigns/campaign-store.ts";
import { createCampaigns } from "../../../../src/push/store/campaigns/campaign-table.ts";
import { createLedger, LedgerWrites } from "../../../../src/push/store/campaigns/ledger-table.ts";
import { roomBeside, takeCampaign } from "../../../support/campaigns.ts";
import { ManualClock } from "../../../support/clock.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { tempDir } from "../../../support/program.ts";
import { localStores } from "../../../support/state-stores.ts";

/** `PRAGMA synchronous` while each commit waits for the disk. */
const FULL = 2;
const served = { kind: "success", reason: "", isRetryable: false } as const;
const limited = { kind: "failure", reason: "rate_limited", isRetryable: true } as const;
const tokens = [1, 2].map((fid) => ({ fid, clientFid: 9 }));

let dir: ReturnType<typeof tempDir>;
let db: StateDatabase;
let writes: LedgerWrites;
let stores: Pick<ReturnType<typeof localStores>, "campaigns" | "ledger">;
/** The names of the statements since the last look. */
let statements: string[];
beforeEach(() => {
  dir = tempDir();
  db = openState(statePath(dir.path));
  writes = new LedgerWrites();
  stores = open();
  statements = [];
  db.onStatement = (name) => statements.push(name);
});
afterEach(() => {
  db[Symbol.dispose]();
  dir[Symbol.dispose]();
});

function open() {
  const node = { nodeId: "node", bootId: crypto.randomUUID(), slot: 0 };
  const state = taskStateDb(db, { clock: steadyClock(new ManualClock(100)), node });
  const runLimits = { maxRunning: 10, maxRunningOfApp: 10 };
  return {
    campaigns: createCampaigns(state, { bootId: node.bootId, runLimits, writes }),
    ledger: createLedger(state, writes),
  };
}

async function campaign(campaignId: string, running: readonly { seq: number; appId: string }[] = []) {
  const notification = { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" };
  const audience = { targetFids: [], excludeFids: [], followingFid: null };
  await stores.campaigns.create(
    { campaignId, appId: "app", notification, audience, createdAt: 100, ledgerSecs: 86_400 },
    10,
  );
  return takeCampaign(stores.campaigns, campaignId, { running });
}

async function statementsOf(call: () => Promise<unknown>): Promise<string[]> {
  statements = [];
  await call();
  return statements;
}

const record = (run: CampaignRun, outcome: typeof served | typeof limited, of = tokens) =>
  stores.ledger.record(run, "h", { tokens: of, outcomes: of.map(() => outcome) }, 1_000);

test("a call of the ledger runs the statements that it needs, and no others", async () => {
  const run = await campaign("c");
  const blocks = [
    "campaigns.lock-run",
    "dedupe-keys.lock",
    "dedupe.of-blocks",
    "campaign-failures.of-blocks",
  ];
  const counts = ["campaign-counts.add", "campaign-clients.add", "campaigns.add-counts"];
  expect(await statementsOf(() => stores.ledger.claim(run, tokens, 30))).toEqual([...blocks, "dedupe.put"]);
  expect(await statementsOf(() => record(run, limited))).toEqual([
    ...blocks,
    ...["dedupe.put", "campaign-failures.put", "campaign-retryable.add", ...counts],
  ]);
  const others = [3, 4].map((fid) => ({ fid, clientFid: 9 }));
  const success = () => record(run, served, others);
  const kept = [...blocks, "dedupe.put of rows", "dedupe-keys.prolong"];
  expect(await statementsOf(success)).toEqual([...kept, ...counts]);
  // Its results were counted before.
  expect(await statementsOf(success)).toEqual(kept);
  const notAttempted = (excluded: number) => () => stores.ledger.setNotAttempted(run, "h", { excluded });
  const known = [...blocks, "campaign-counts.not-attempted"];
  const added = [...known, "campaign-counts.add", "campaigns.add-counts"];
  expect(await statementsOf(notAttempted(2))).toEqual(added);
  expect(await statementsOf(notAttempted(2))).toEqual(known);
  expect(await statementsOf(notAttempted(3))).toEqual(added);
});

test("a look for campaigns reads only whether there is a free one, and nothing without room", async () => {
  const look = (room: CampaignRoom) => () => stores.campaigns.take(room, 100);
  expect(await statementsOf(look(roomBeside()))).toEqual(["campaigns.any-free"]);
  const run = await campaign("c");
  await campaign("waiting", [run]);
  const limits = { maxRunning: 1, maxRunningOfApp: 1 };
  expect(await statementsOf(look({ running: [run], ...limits }))).toEqual([]);
});

test("the number of a run's writes is kept while its campaign runs on the node, and no longer", async () => {
  const first = await campaign("first");
  const second = await campaign("second", [first]);
  for (const run of [first, second, second]) await stores.ledger.claim(run, tokens, 30);
  expect([first, second].map((run) => writes.of(run))).toEqual([1, 2]);
  const [again] = await stores.campaigns.take(roomBeside([first]), 100);
  expect(again).toMatchObject({ seq: second.seq, epoch: second.epoch + 1 });
  expect([first, second].map((run) => writes.of(run))).toEqual([1, 0]);
});

test("the disk is not waited for by the ledger and the deletion of its failures, only by the end of a run", async () => {
  const { campaigns, ledger, sweeps } = localStores(db, { clock: new ManualClock(100) });
  stores = { campaigns, ledger };
  const run = await campaign("c");
  const isSynced = async (write: () => Promise<unknown>) => {
    await write();
    return db.sqlite.query<{ synchronous: number }, []>("PRAGMA synchronous").get()?.synchronous === FULL;
  };
  expect(await isSynced(() => record(run, limited))).toBe(false);
  expect(await isSynced(() => campaigns.end(run, "completed", 100))).toBe(true);
  const progress = sweeps.find(({ name }) => name === "campaign_progress");
  expect(await isSynced(async () => progress?.step(10))).toBe(false);
});
