import { afterEach, beforeEach, expect, test } from "bun:test";
import { createOwners, type Owners, UnconfirmedError } from "../../../src/auth/owners/owners.ts";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { createScheduleRunner } from "../../../src/push/schedules/schedule-runner.ts";
import {
  type CampaignWork,
  MAX_UNFINISHED,
  type NewCampaign,
} from "../../../src/push/store/campaigns/campaign-store.ts";
import { type NewSchedule, WINNER } from "../../../src/push/store/schedules/schedule-store.ts";
import { roomBeside, takeCampaign } from "../../support/campaigns.ts";
import { ManualClock } from "../../support/clock.ts";
import { registerEvent } from "../../support/events.ts";
import { logTo, silentLog } from "../../support/log.ts";
import { makeWallet } from "../../support/messages.ts";
import { startTestNode } from "../../support/node.ts";
import { ownersBy } from "../../support/owners.ts";
import { tempDir } from "../../support/program.ts";
import { insertTokens, testApp } from "../../support/send.ts";
import { custodyWallet } from "../../support/signing.ts";
import { localStores } from "../../support/state-stores.ts";

const START = 1_000_000;
const CUSTODY = new Uint8Array(20).fill(7);
const TEXT = { title: "T", body: "B", targetUrl: "https://app.example" };
const EVERYONE = { targetFids: [], excludeFids: [], followingFid: null };

function schedule(appId: string, { waves = 1, dueAt = START } = {}): NewSchedule {
  return {
    scheduleId: crypto.randomUUID(),
    appId,
    ownerFid: 3,
    custody: CUSTODY,
    bodyHash: new Uint8Array(32),
    content: {
      texts: [TEXT],
      audience: EVERYONE,
      timing: { at: START, local: null, quiet: null, zone: "UTC" },
      times: [START],
      holdoutPercent: 0,
      lateOkSecs: 3_600,
    },
    createdAt: START - 100,
    waves: Array.from({ length: waves }, (_, wave) => ({ wave, dueAt, variant: 0 })),
  };
}

let dir: ReturnType<typeof tempDir>;
let db: StateDatabase;
let clock: ManualClock;
let stores: ReturnType<typeof localStores>;
beforeEach(() => {
  dir = tempDir();
  db = openState(statePath(dir.path));
  clock = new ManualClock(START);
  stores = localStores(db, { clock });
});
afterEach(() => {
  db[Symbol.dispose]();
  dir[Symbol.dispose]();
});

async function addApp(appId: string, ownerFid = 3) {
  await stores.apps.create(testApp({ appId, ownerFid, secrets: [] }), 10);
}
const runner = (
  owners: Pick<Owners, "isOwner"> = ownersBy(() => CUSTODY),
  isBehind = () => false,
  log = silentLog,
) =>
  createScheduleRunner({
    ...stores,
    owners,
    isBehind,
    clock,
    log,
    dedupeTtlSecs: 86_400,
  });
const statesOf = async ({ scheduleId }: NewSchedule) =>
  (await stores.schedules.find(scheduleId))?.waves.map(({ state }) => state);

test("the waves of an app with too many campaigns under way keep no other app waiting, and stay due", async () => {
  for (const appId of ["busy", "full", "calm"]) await addApp(appId);
  for (const appId of ["busy", "full"])
    for (let at = 0; at < MAX_UNFINISHED; at++) {
      const campaign: NewCampaign = {
        campaignId: `${appId} ${at}`,
        appId,
        notification: { ...TEXT, notificationId: `n${at}` },
        audience: EVERYONE,
        createdAt: START,
        ledgerSecs: 3_600,
      };
      expect(await stores.campaigns.create(campaign, MAX_UNFINISHED)).toBe("created");
    }
  const crowd = [schedule("busy", { waves: 150 }), schedule("full", { waves: 150 })];
  const late = schedule("calm", { dueAt: START + 1 });
  for (const one of [...crowd, late]) await stores.schedules.create(one, 100);
  clock.advanceSecs(10);
  expect(await runner().fireDue()).toBe(1);
  expect(await statesOf(late)).toEqual(["sent"]);
  for (const one of crowd) expect(new Set(await statesOf(one))).toEqual(new Set(["due"]));
});

test("an app whose send cannot be started keeps no other app waiting, and the fault is not lost", async () => {
  await addApp("broken", 9);
  await addApp("calm");
  const first = { ...schedule("broken", { waves: 150 }), ownerFid: 9 };
  const late = schedule("calm", { dueAt: START + 1 });
  for (const one of [first, late]) await stores.schedules.create(one, 100);
  clock.advanceSecs(10);
  const fault = new Error("the index is away");
  let tries = 0;
  const broken = runner({
    async isOwner(fid) {
      if (fid !== 9) return true;
      tries += 1;
      throw fault;
    },
  });
  expect(await broken.fireDue().catch((cause) => cause)).toBe(fault);
  expect(tries).toBe(1);
  expect(await statesOf(late)).toEqual(["sent"]);
  expect(new Set(await statesOf(first))).toEqual(new Set(["due"]));
});

test("while the index is behind nothing is sent or held, and afterwards it is", async () => {
  await addApp("app");
  const waiting = schedule("app");
  await stores.schedules.create(waiting, 100);
  clock.advanceSecs(10);
  let isBehind = true;
  const sender = runner(undefined, () => isBehind);
  expect(await sender.fireDue()).toBe(0);
  expect(await statesOf(waiting)).toEqual(["due"]);
  isBehind = false;
  expect(await sender.fireDue()).toBe(1);
});

test("another owner in the index holds nothing until a second node confirms it, and keeps no other app waiting", async () => {
  await addApp("sold", 9);
  await addApp("calm");
  const sold = { ...schedule("sold"), ownerFid: 9 };
  const late = schedule("calm", { dueAt: START + 1 });
  for (const one of [sold, late]) await stores.schedules.create(one, 100);
  clock.advanceSecs(10);
  let isConfirmed = false;
  const sender = runner({
    async isOwner(fid) {
      if (fid === 9 && !isConfirmed) throw new UnconfirmedError("no second node has the event yet");
      return fid !== 9;
    },
  });
  expect(await sender.fireDue()).toBe(1);
  expect([await statesOf(sold), await statesOf(late)]).toEqual([["due"], ["sent"]]);
  isConfirmed = true;
  expect(await sender.fireDue()).toBe(0);
  expect(await statesOf(sold)).toEqual(["held"]);
});

test("the owner who has acted at another node has the fid, also if the index lacks the transfer", async () => {
  using node = startTestNode();
  await addApp("app");
  const [seller, buyer] = [custodyWallet(3).address, makeWallet("buyer").address];
  node.ingestEvent(registerEvent(3, seller, { block: 1 }));
  await stores.custodies.record({ fid: 3, custody: buyer, blockNumber: 2, logIndex: 0 });
  const [own, former] = [buyer, seller].map((custody) => ({ ...schedule("app"), custody }));
  if (!own || !former) throw new Error("no schedules");
  for (const one of [own, former]) await stores.schedules.create(one, 100);
  clock.advanceSecs(10);
  const owners = createOwners({ db: node.db, custodies: stores.custodies });
  expect(owners.inIndex(3)).toEqual(seller);
  expect(await runner(owners).fireDue()).toBe(1);
  expect([await statesOf(own), await statesOf(former)]).toEqual([["sent"], ["held"]]);
});

test("one check sends at most a hundred waves, and the next one the rest", async () => {
  for (const appId of ["first", "second"]) {
    await addApp(appId);
    await stores.schedules.create(schedule(appId, { waves: 75 }), 100);
  }
  clock.advanceSecs(10);
  expect([await runner().fireDue(), await runner().fireDue(), await runner().fireDue()]).toEqual([
    100, 50, 0,
  ]);
});

test("the wave of the winner sends the text that the largest part of its people opened", async () => {
  await addApp("app");
  const tested = schedule("app", { waves: 3 });
  const texts = ["A", "B"].map((title) => ({ ...TEXT, title }));
  const content = { ...tested.content, texts, holdoutPercent: 20 };
  const waves = [0, 1, WINNER].map((variant, wave) => ({
    wave,
    dueAt: START + (wave === 2 ? 60 : 0),
    variant,
  }));
  await stores.schedules.create({ ...tested, content, waves }, 100);
  const campaignOf = async (wave: number) => {
    const { campaignId } = (await stores.schedules.find(tested.scheduleId))?.waves[wave] ?? {};
    return stores.campaigns.find(campaignId ?? "");
  };
  expect(await runner().fireDue()).toBe(2);
  expect([await campaignOf(0), await campaignOf(1)]).toMatchObject([
    { notification: { title: "A" } },
    { notification: { title: "B" } },
  ]);
  const fids = [1, 2];
  insertTokens(
    db,
    fids.map((fid) => ({ appId: "app", fid, url: "https://h.example/", token: `t${fid}` })),
  );
  const running: CampaignWork[] = [];
  for (const [wave, fid] of fids.entries()) {
    const { campaignId = "", seq = 0 } = (await campaignOf(wave)) ?? {};
    const run = await takeCampaign(stores.campaigns, campaignId, { nowSecs: START, running });
    running.push(run);
    const outcome = { kind: "success", reason: "", isRetryable: false } as const;
    const results = { tokens: [{ fid, clientFid: 9152 }], outcomes: [outcome] };
    await stores.ledger.record(run, "h.example", results, 60);
    await stores.opens.addLink({ token: campaignId, appId: "app", campaign: seq, host: "h.example" });
  }
  const { campaignId: token = "" } = (await campaignOf(1)) ?? {};
  const open = { appId: "app", token, fid: 2, clientFid: 9152, isVerified: false, goal: null };
  await stores.opens.add({ ...open, nowSecs: START });
  clock.advanceSecs(60);
  expect(await runner().fireDue()).toBe(1);
  expect(await campaignOf(2)).toMatchObject({ notification: { title: "B" } });
});

test("the ledger remembers the people of a wave until no later wave can reach them", async () => {
  const [day, lateOk] = [86_400, 3_600];
  await addApp("early");
  await addApp("late");
  const early = schedule("early");
  const waves = [0, 1_000].map((secs, wave) => ({ wave, dueAt: START + secs, variant: 0 }));
  await stores.schedules.create({ ...early, waves }, 100);
  await stores.schedules.create(schedule("late"), 100);
  clock.advanceSecs(10);
  expect(await runner().fireDue()).toBe(2);
  const works = await stores.campaigns.take(roomBeside(), START + 10);
  expect(works.map(({ appId, ledgerEndsAt }) => [appId, ledgerEndsAt]).sort()).toEqual([
    ["early", START + 1_000 + lateOk + day],
    // Its last wave was due before it was sent.
    ["late", START + 10 + lateOk + day],
  ]);
});

test("only a wave that is too late is logged as missed", async () => {
  await addApp("app");
  const [late, sent] = [schedule("app"), schedule("app", { dueAt: START + 60 })];
  for (const one of [late, sent]) await stores.schedules.create(one, 100);
  clock.advanceSecs(3_601);
  const lines: { msg: string; scheduleId?: string }[] = [];
  const log = logTo((line) => lines.push(JSON.parse(line)));
  expect(await runner(undefined, undefined, log).fireDue()).toBe(1);
  expect([await statesOf(late), await statesOf(sent)]).toEqual([["missed"], ["sent"]]);
  expect(lines.map(({ msg, scheduleId }) => [msg, scheduleId])).toEqual([
    ["A scheduled send was missed", late.scheduleId],
  ]);
});
