import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import {
  bestVariant,
  isLikelyBetter,
  reportOf,
  sumOf,
  variantResults,
} from "../../../src/push/schedules/results.ts";
import { WINNER } from "../../../src/push/store/schedules/schedule-store.ts";
import { takeCampaign } from "../../support/campaigns.ts";
import { ManualClock } from "../../support/clock.ts";
import { tempDir } from "../../support/program.ts";
import { APP_ID, insertTokens, testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";

const variant = (variant: number, delivered: number, opened: number) => ({
  variant,
  delivered,
  opened,
  failed: 0,
  notAttempted: 0,
  verified: 0,
  goals: 0,
  turnedOff: 0,
});

test("a variant is likely better from 95 % on, and never below 100 opens of each", () => {
  expect(isLikelyBetter([variant(0, 2_000, 200), variant(1, 2_000, 260)])).toBe(true);
  expect(isLikelyBetter([variant(0, 2_000, 200), variant(1, 2_000, 215)])).toBe(false);
  expect(isLikelyBetter([variant(0, 2_000, 99), variant(1, 2_000, 900)])).toBe(false);
  expect(isLikelyBetter([variant(0, 2_000, 2_000), variant(1, 2_000, 2_000)])).toBe(false);
  expect(isLikelyBetter([])).toBe(false);
});

test.each([
  ["equally many people", variant(0, 2_000, 200), variant(1, 2_000, 232), variant(1, 2_000, 233)],
  ["a third of the people", variant(0, 1_000, 100), variant(1, 3_000, 357), variant(1, 3_000, 358)],
  // The first has the least opens that count.
  ["the fewest opens", variant(0, 1_000, 100), variant(1, 1_000, 123), variant(1, 1_000, 124)],
])(
  "the one-sided test at 95 %% has its critical value between two numbers of opens: %s",
  (_, base, below, above) => {
    expect(isLikelyBetter([base, below])).toBe(false);
    expect(isLikelyBetter([above, base])).toBe(true);
    // The third one does not decide, in whatever place.
    const third = variant(2, 5_000, 100);
    expect(isLikelyBetter([third, base, below])).toBe(false);
    expect(isLikelyBetter([base, third, above])).toBe(true);
  },
);

test("the best variant has the largest part of openers; the first of equal ones, also without any", () => {
  expect(bestVariant([variant(0, 100, 10), variant(1, 50, 9), variant(2, 900, 60)])).toBe(1);
  expect(bestVariant([variant(0, 0, 0), variant(1, 0, 0)])).toBe(0);
  expect(bestVariant([])).toBe(0);
});

describe("results of campaigns", () => {
  const START = 1_000_000;
  const success = { kind: "success", reason: "", isRetryable: false } as const;
  const failure = { kind: "failure", reason: "timeout", isRetryable: false } as const;
  const NOTHING = {
    delivered: 0,
    failed: 0,
    notAttempted: 0,
    opened: 0,
    verified: 0,
    goals: 0,
    turnedOff: 0,
  };

  let dir: ReturnType<typeof tempDir>;
  let db: StateDatabase;
  let clock: ManualClock;
  let stores: ReturnType<typeof localStores>;
  beforeEach(async () => {
    dir = tempDir();
    db = openState(statePath(dir.path));
    clock = new ManualClock(START);
    stores = localStores(db, { clock });
    await stores.apps.create(testApp(), 10);
    insertTokens(
      db,
      [
        [1, 9],
        [2, 9],
        [3, 9],
        [4, 9],
        [5, 8],
        [6, 8],
        [7, 9],
      ].map(([fid = 0, clientFid = 0]) => ({ fid, clientFid, url: "https://h.example/", token: `t${fid}` })),
    );
  });
  afterEach(() => {
    db[Symbol.dispose]();
    dir[Symbol.dispose]();
  });

  type Sent = readonly (readonly [
    fid: number,
    clientFid: number,
    outcome: typeof success | typeof failure,
  ])[];
  async function campaign(campaignId: string, sent: Sent, notAttempted: number) {
    const { campaigns, ledger, opens } = stores;
    await campaigns.create(
      {
        campaignId,
        appId: APP_ID,
        notification: { notificationId: campaignId, title: "T", body: "B", targetUrl: "https://app.example" },
        audience: { targetFids: [], excludeFids: [], followingFid: null },
        createdAt: START,
        ledgerSecs: 86_400,
      },
      10,
    );
    const run = await takeCampaign(campaigns, campaignId, { nowSecs: START });
    const results = {
      tokens: sent.map(([fid, clientFid]) => ({ fid, clientFid })),
      outcomes: sent.map(([, , outcome]) => outcome),
    };
    await ledger.record(run, "h.example", results, 86_400);
    await ledger.setNotAttempted(run, "h.example", { excluded: notAttempted });
    await campaigns.end(run, "completed", START);
    await opens.addLink({ token: campaignId, appId: APP_ID, campaign: run.seq, host: "h.example" });
    const stored = await campaigns.find(campaignId);
    if (!stored) throw new Error("the campaign is stored");
    return stored;
  }
  const open = (token: string, fid: number, clientFid: number, minutes: number, of = {}) =>
    stores.opens.add({
      ...{ appId: APP_ID, token, fid, clientFid, isVerified: false, goal: null },
      ...{ nowSecs: START + minutes * 60, ...of },
    });
  const leave = (fid: number, clientFid: number) =>
    stores.tokens.apply(
      { appId: APP_ID, fid, clientFid, event: { name: "miniapp_removed" }, nowSecs: START },
      { maxChanges: 100, windowSecs: 60 },
    );

  async function twoCampaigns() {
    const first = await campaign(
      "first",
      [
        [1, 9, success],
        [2, 9, success],
        [3, 9, success],
        [4, 9, failure],
      ],
      2,
    );
    const second = await campaign(
      "second",
      [
        [5, 8, success],
        [6, 8, success],
        [7, 9, success],
      ],
      4,
    );
    await open("first", 1, 9, 5, { isVerified: true, goal: "bought" });
    await open("first", 2, 9, 5);
    await open("first", 3, 9, 90);
    await open("second", 5, 8, 0, { goal: "bought" });
    await open("second", 6, 8, 130, { isVerified: true });
    for (const [fid, client] of [
      [2, 9],
      [5, 8],
      [6, 8],
    ] as const)
      await leave(fid, client);
    return [first, second] as const;
  }
  const FIRST = { delivered: 3, failed: 1, notAttempted: 2, opened: 3, verified: 1, goals: 1, turnedOff: 1 };
  const SECOND = { delivered: 3, failed: 0, notAttempted: 4, opened: 2, verified: 1, goals: 1, turnedOff: 2 };
  const BOTH = { delivered: 6, failed: 1, notAttempted: 6, opened: 5, verified: 2, goals: 2, turnedOff: 3 };

  test("are added up in total, by client and by hour", async () => {
    expect(await reportOf(stores, await twoCampaigns(), [])).toEqual({
      total: BOTH,
      clients: [
        { clientFid: 8, delivered: 2, opened: 2, verified: 1, turnedOff: 2 },
        { clientFid: 9, delivered: 4, opened: 3, verified: 1, turnedOff: 1 },
      ],
      hours: [
        { hour: 0, opened: 3 },
        { hour: 1, opened: 1 },
        { hour: 2, opened: 1 },
      ],
      medianMinutes: 5,
      variants: [],
      likelyBetter: null,
    });
  });

  test("have the minute by which half of the opens were there, also exactly half", async () => {
    const [first, second] = await twoCampaigns();
    const medianOf = async (...of: (typeof first)[]) => (await reportOf(stores, of, [])).medianMinutes;
    expect([await medianOf(first), await medianOf(second), await medianOf()]).toEqual([5, 0, null]);
  });

  test("of a schedule are those of all campaigns of each text, without the winner's", async () => {
    await twoCampaigns();
    const wave = { wave: 0, dueAt: START, state: "sent", reason: null } as const;
    const text = { title: "T", body: "B", targetUrl: "https://app.example" };
    const times = { times: [START], holdoutPercent: 0, lateOkSecs: 60 };
    const timing = { at: START, local: null, quiet: null, zone: "UTC" };
    const schedule = {
      content: { texts: [text, text, text], audience: { followingFid: null }, timing, ...times },
      waves: [
        { ...wave, variant: 0, campaignId: "first" },
        { ...wave, variant: 0, campaignId: "second" },
        { ...wave, variant: 1, campaignId: null },
        { ...wave, variant: 1, campaignId: "deleted since" },
        { ...wave, variant: 2, campaignId: "second" },
        { ...wave, variant: WINNER, campaignId: "first" },
      ],
    };
    expect(await variantResults(stores, schedule)).toEqual([
      { variant: 0, ...BOTH },
      { variant: 1, ...NOTHING },
      { variant: 2, ...SECOND },
    ]);
    expect(sumOf([FIRST, SECOND])).toEqual(BOTH);
    expect(sumOf([])).toEqual(NOTHING);
  });

  test("name the variant that is likely better, and none while it may be chance", async () => {
    const likely = async (opened: number) =>
      (await reportOf(stores, [], [variant(0, 2_000, 200), variant(1, 2_000, opened)])).likelyBetter;
    expect([await likely(232), await likely(233)]).toEqual([null, 1]);
  });
});
