import { describe, expect, test } from "bun:test";
import type { Sweep } from "../../../src/db/state/state-db.ts";
import {
  CAMPAIGN_RETENTION_SECS,
  type CampaignRun,
  type CampaignStore,
  type CampaignWork,
  RunLost,
} from "../../../src/push/store/campaigns/campaign-store.ts";
import { BLOCK_FIDS } from "../../../src/push/store/campaigns/ledger-block.ts";
import type {
  NotificationLedger,
  TokenResult,
} from "../../../src/push/store/campaigns/notification-ledger.ts";
import { roomBeside, takeCampaign } from "../../support/campaigns.ts";
import { ManualClock } from "../../support/clock.ts";
import { disposedAfterEach } from "../../support/disposed-after-each.ts";
import { SWEEP_MARGIN_SECS } from "../../support/state-stores.ts";

export interface LedgerFixture extends AsyncDisposable {
  readonly campaigns: CampaignStore;
  readonly ledger: NotificationLedger;
  addApp(appId: string): Promise<void>;
  /** Runs a sweep until it has nothing left, in steps of `maxRows`. Returns the number of deleted rows. */
  sweep(name: string, maxRows: number): Promise<number>;
  /** Rows of a table. */
  rows(table: string): Promise<number>;
  /** Sets how many ledger writes of the campaigns are in the database, as after a crash that undid the others. */
  setLedgerWrites(count: number): Promise<void>;
}

const TTL_SECS = 86_400;
const tokens = (...fids: number[]) => fids.map((fid) => ({ fid, clientFid: 9 }));
const success = { kind: "success", reason: "", isRetryable: false } as const;
const served = (fid: number): TokenResult => ({ fid, clientFid: 9, ...success });
const failed = (fid: number, reason = "timeout", isRetryable = false): TokenResult => ({
  fid,
  clientFid: 9,
  kind: "failure",
  reason,
  isRetryable,
});

/** Records results of a host, as those of two concurrent calls. */
export async function record(
  ledger: NotificationLedger,
  run: CampaignRun,
  host: string,
  results: readonly TokenResult[],
  retentionSecs = 1_000,
): Promise<void> {
  const half = results.length >> 1;
  await Promise.all(
    [results.slice(0, half), results.slice(half)].map((part) =>
      ledger.record(run, host, { tokens: part, outcomes: part }, retentionSecs),
    ),
  );
}

/**
 * Returns why a call of a run was refused. Not by `rejects`, which runs a loop of its own until the promise settles: after other files of
 * the process, the immediate of the writer did not run in it.
 */
const lossOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (cause) => (cause instanceof RunLost ? cause.why : cause),
  );

/** The guarantees of every implementation of the campaign store and the notification ledger. */
export function campaignStoresContract(
  name: string,
  open: (clock: ManualClock) => Promise<LedgerFixture>,
): void {
  describe(`${name}: campaign store and notification ledger`, () => {
    const keep = disposedAfterEach();
    const start = async () => {
      const clock = new ManualClock(100);
      const fixture = keep(await open(clock));
      for (const appId of ["app", "app2", "a", "b", "c"]) await fixture.addApp(appId);
      const { campaigns, ledger } = fixture;
      let made = 0;
      const running: CampaignWork[] = [];
      async function campaign(notificationId = "n", appId = "app", at = 100): Promise<CampaignWork> {
        made += 1;
        await create(campaigns, `c${made}`, { notificationId, appId, at });
        const work = await takeCampaign(campaigns, `c${made}`, { nowSecs: at, running });
        running.push(work);
        return work;
      }
      const claim = async (work: CampaignWork, fids: readonly number[], nowSecs = 100) => {
        clock.setSecs(nowSecs);
        const claimed = await ledger.claim(work, tokens(...fids), 30);
        const fidsOf = (list: readonly { fid: number }[]) => list.map(({ fid }) => fid);
        return {
          taken: fidsOf(claimed.claimed),
          counted: fidsOf(claimed.alreadyCounted),
          refused: fidsOf(claimed.conflicting),
        };
      };
      const settle = (work: CampaignWork, settlements: readonly TokenResult[], nowSecs = 100) => {
        clock.setSecs(nowSecs);
        return record(ledger, work, "host", settlements, TTL_SECS);
      };
      return { ...fixture, clock, campaign, claim, settle };
    };

    test("of two campaigns with one notification, the first one has a claim until its lease expires", async () => {
      const { campaign, claim } = await start();
      const [first, second] = [await campaign(), await campaign()];
      expect(await claim(first, [1, 2])).toEqual({ taken: [1, 2], counted: [], refused: [] });
      expect(await claim(second, [1, 2, 3])).toEqual({ taken: [3], counted: [], refused: [1, 2] });
      expect(await claim(second, [1], 129)).toEqual({ taken: [], counted: [], refused: [1] });
      expect(await claim(second, [1], 130)).toEqual({ taken: [1], counted: [], refused: [] });
      expect(await claim(first, [1, 2], 130)).toEqual({ taken: [2], counted: [], refused: [1] });
    });

    test("another client of the fid, another notification and another app are claimed separately", async () => {
      const { campaign, claim, ledger } = await start();
      const first = await campaign();
      await claim(first, [1]);
      const second = await campaign();
      const other = await ledger.claim(second, [{ fid: 1, clientFid: 0 }], 30);
      expect(other.claimed).toHaveLength(1);
      expect((await claim(await campaign("m"), [1])).taken).toEqual([1]);
      expect((await claim(await campaign("n", "app2"), [1])).taken).toEqual([1]);
    });

    test("a token that was sent to cannot be claimed by others for 24 hours, and counts for its own campaign", async () => {
      const { campaign, claim, settle } = await start();
      const [first, second] = [await campaign(), await campaign()];
      await claim(first, [1]);
      await settle(first, [served(1)]);
      const lastSec = 100 + TTL_SECS - 1;
      expect(await claim(second, [1], lastSec)).toEqual({ taken: [], counted: [], refused: [1] });
      expect(await claim(first, [1], lastSec)).toEqual({ taken: [], counted: [1], refused: [] });
      expect(await claim(second, [1], lastSec + 1)).toEqual({ taken: [1], counted: [], refused: [] });
    });

    test("a failed token can be claimed by others, and counts for its own campaign even after another has sent it", async () => {
      const { campaign, claim, settle } = await start();
      const [first, second] = [await campaign(), await campaign()];
      await claim(first, [1, 2]);
      await settle(first, [failed(1), failed(2, "rate_limited", true)]);
      expect(await claim(second, [1, 2])).toEqual({ taken: [1, 2], counted: [], refused: [] });
      await settle(second, [served(1), served(2)]);
      expect(await claim(first, [1, 2])).toEqual({ taken: [], counted: [1, 2], refused: [] });
    });

    test("a failure that is settled late does not release another campaign's claim", async () => {
      const { campaign, claim, settle } = await start();
      const [first, second] = [await campaign(), await campaign()];
      await claim(first, [1]);
      await claim(second, [1], 130);
      await settle(first, [failed(1)], 131);
      const third = await campaign();
      expect((await claim(third, [1], 131)).refused).toEqual([1]);
    });

    test("after a crash the campaign claims its tokens again at once, and counts nothing twice", async () => {
      const { campaigns, campaign, claim, settle, ledger } = await start();
      const work = await campaign();
      await claim(work, [1, 2, 3]);
      await settle(work, [served(1), failed(2)]);
      await ledger.setNotAttempted(work, "host", { excluded: 4, not_following: 0 });
      const again = await takeCampaign(campaigns, work.campaignId, { nowSecs: 200 });
      expect(again).toEqual({ ...work, epoch: work.epoch + 1, runs: 2 });
      expect(await claim(again, [1, 2, 3, 4])).toEqual({ taken: [3, 4], counted: [1, 2], refused: [] });
      await ledger.setNotAttempted(again, "host", { excluded: 4 });
      await settle(again, [served(3), served(4)]);
      expect((await campaigns.find(work.campaignId))?.counts).toEqual({
        success: 3,
        failure: 1,
        notAttempted: 4,
      });
    });

    test("a settlement that is repeated because its response was lost changes nothing", async () => {
      const { campaigns, campaign, claim, settle } = await start();
      const work = await campaign();
      await claim(work, [1, 2, 3]);
      const settlements = [served(1), failed(2, "timeout"), failed(3, "rate_limited", true)];
      await settle(work, settlements);
      const before = [await campaigns.find(work.campaignId), await campaigns.breakdown(work.campaignId, 9)];
      await settle(work, settlements);
      expect([await campaigns.find(work.campaignId), await campaigns.breakdown(work.campaignId, 9)]).toEqual(
        before,
      );
      expect(await campaigns.totals(work.campaignId, 9)).toMatchObject({
        byClient: [{ clientFid: 9, tokens: 3, successes: 1 }],
      });
      // Only its new results count.
      await claim(work, [4]);
      await settle(work, [...settlements, served(4)]);
      expect((await campaigns.find(work.campaignId))?.counts).toMatchObject({ success: 2, failure: 2 });
    });

    test("a settlement may have any number of outcomes", async () => {
      const { campaigns, campaign, claim, settle } = await start();
      const work = await campaign();
      const fids = Array.from({ length: 700 }, (_, at) => at);
      await claim(work, fids);
      await settle(
        work,
        fids.map((fid) => failed(fid, `http_${fid}`)),
      );
      expect((await campaigns.breakdown(work.campaignId, 9)).byReason).toHaveLength(700);
      expect((await claim(work, fids)).counted).toEqual(fids);
    });

    test("adds up counts by host and by reason, hosts with the most tokens first", async () => {
      const { campaigns, campaign, ledger } = await start();
      const work = await campaign();
      await record(ledger, work, "b", [served(1), failed(2, "timeout"), failed(3, "timeout")]);
      await record(ledger, work, "a", [failed(4, "http_500")]);
      await ledger.setNotAttempted(work, "a", { excluded: 1 });
      await ledger.setNotAttempted(work, "c", { duplicate: 1 });
      expect(await campaigns.breakdown(work.campaignId, 2)).toEqual({
        byHost: [
          { host: "b", kind: "failure", reason: "timeout", count: 2 },
          { host: "b", kind: "success", reason: "", count: 1 },
          { host: "a", kind: "failure", reason: "http_500", count: 1 },
          { host: "a", kind: "not_attempted", reason: "excluded", count: 1 },
        ],
        hostCount: 3,
        byReason: [
          { kind: "failure", reason: "http_500", count: 1 },
          { kind: "failure", reason: "timeout", count: 2 },
          { kind: "not_attempted", reason: "duplicate", count: 1 },
          { kind: "not_attempted", reason: "excluded", count: 1 },
          { kind: "success", reason: "", count: 1 },
        ],
      });
      expect((await campaigns.find(work.campaignId))?.counts).toEqual({
        success: 1,
        failure: 3,
        notAttempted: 2,
      });
    });

    test("lists fids with a rate-limited token once each, ascending, in pages", async () => {
      const { campaigns, campaign, ledger } = await start();
      const work = await campaign();
      const limited = [30, 10, 20].map((fid) => failed(fid, "rate_limited", true));
      await record(ledger, work, "h", [...limited, { ...failed(10, "rate_limited", true), clientFid: 8 }]);
      await record(ledger, work, "h", [failed(5)]);
      expect(await campaigns.retryableFids(work.campaignId, -1, 2)).toEqual([10, 20]);
      expect(await campaigns.retryableFids(work.campaignId, 20, 2)).toEqual([30]);
    });

    test("limits the unfinished campaigns of an app; a finished one makes room", async () => {
      const { campaigns } = await start();
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, at) => create(campaigns, `c${at}`, { maxUnderWay: 3 })),
      );
      expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(3);
      expect(await create(campaigns, "other", { appId: "app2", maxUnderWay: 3 })).toBe("created");
      const [first, ...running] = await campaigns.take(roomBeside(), 200);
      if (!first) throw new Error("there is no campaign");
      await campaigns.end(first, "completed", 200);
      expect(await create(campaigns, "next", { maxUnderWay: 3 })).toBe("created");
      const next = await campaigns.take(roomBeside(running), 200);
      // In the order of their commits.
      const ids = [first, ...running, ...next].map(({ campaignId }) => campaignId);
      expect(ids.slice(3)).toEqual(["other", "next"]);
      expect(ids.slice(0, 3).sort()).toEqual([
        ...outcomes.flatMap((outcome, at) => (outcome === "created" ? [`c${at}`] : [])),
      ]);
    });

    test("a finished campaign can neither be taken nor finished again", async () => {
      const { campaigns, campaign } = await start();
      const work = await campaign();
      expect(await campaigns.end(work, "aborted", 200)).toBe("ended");
      // As after a lost response.
      expect(await campaigns.end(work, "completed", 300)).toBe("ended");
      await campaigns.release(work, 0);
      expect(await campaigns.take(roomBeside(), 300)).toEqual([]);
      expect(await campaigns.find(work.campaignId)).toMatchObject({
        status: "aborted",
        startedAt: 100,
        endedAt: 200,
      });
    });

    test("takes the oldest free campaigns, within the limits in total and of one app", async () => {
      const { campaigns } = await start();
      for (const [id, appId] of ["a1 a", "a2 a", "a3 a", "b1 b", "c1 c", "a4 a"].map((at) => at.split(" "))) {
        await create(campaigns, id ?? "", { appId });
      }
      const limits = { maxRunning: 4, maxRunningOfApp: 2 };
      const ids = (works: readonly CampaignWork[]) => works.map(({ campaignId }) => campaignId);
      const first = await campaigns.take({ running: [], ...limits }, 100);
      expect(ids(first)).toEqual(["a1", "a2", "b1", "c1"]);
      expect(await campaigns.take({ running: first, ...limits }, 100)).toEqual([]);
      expect(await campaigns.take({ running: first, maxRunning: 3, maxRunningOfApp: 4 }, 100)).toEqual([]);
      const running = first.filter(({ campaignId }) => !["a1", "c1"].includes(campaignId));
      for (const work of first) {
        if (!running.includes(work)) await campaigns.end(work, "completed", 100);
      }
      expect(ids(await campaigns.take({ running, ...limits }, 100))).toEqual(["a3"]);
    });

    test("takes as many campaigns as there is room for beside the running ones", async () => {
      const { campaigns } = await start();
      for (const id of ["1", "2", "3", "4"]) await create(campaigns, id, {});
      const running = await campaigns.take({ running: [], maxRunning: 2, maxRunningOfApp: 9 }, 100);
      const next = await campaigns.take({ running, maxRunning: 3, maxRunningOfApp: 9 }, 100);
      expect([running, next].map((works) => works.map(({ campaignId }) => campaignId))).toEqual([
        ["1", "2"],
        ["3"],
      ]);
    });

    test("a run notes the size of the audience, which the results replace at its end", async () => {
      const { campaigns, campaign, claim, settle } = await start();
      const work = await campaign();
      const counted = async () => (await campaigns.find(work.campaignId))?.audienceCount;
      expect(await counted()).toBeNull();
      await campaigns.setAudienceCount({ ...work, epoch: work.epoch - 1 }, 3);
      expect(await counted()).toBeNull();
      await campaigns.setAudienceCount(work, 5);
      expect(await counted()).toBe(5);
      await claim(work, [1, 2]);
      await settle(work, [served(1), failed(2)]);
      expect(await campaigns.end(work, "completed", 100)).toBe("ended");
      expect(await counted()).toBe(2);
    });

    test("a campaign whose taking got no response is taken again, and the previous run writes nothing", async () => {
      const { campaigns, campaign, claim, settle, ledger } = await start();
      const former = await campaign();
      await claim(former, [1, 2]);
      await settle(former, [served(1)]);
      const before = await campaigns.find(former.campaignId);
      const current = await takeCampaign(campaigns, former.campaignId);
      expect(current).toMatchObject({ seq: former.seq, epoch: former.epoch + 1, runs: 2 });

      const attempts = [
        () => claim(former, [3]),
        () => settle(former, [served(2)]),
        () => ledger.setNotAttempted(former, "host", { excluded: 4 }),
      ];
      for (const attempt of attempts) expect(await lossOf(attempt())).toBe("taken");
      expect(await campaigns.end(former, "completed", 100)).toBe("taken");
      await campaigns.release(former, 1_000_000);
      expect(await campaigns.find(former.campaignId)).toEqual(before);
      expect(await claim(current, [1, 2, 3])).toEqual({ taken: [2, 3], counted: [1], refused: [] });
      expect(await campaigns.end(current, "completed", 100)).toBe("ended");
    });

    test("a run of which the database has lost a write writes no more and does not end, and its campaign is taken again", async () => {
      const { campaigns, campaign, claim, settle, ledger, setLedgerWrites } = await start();
      const work = await campaign();
      await claim(work, [1, 2]);
      await claim(work, [3]);
      await setLedgerWrites(1);
      const attempts = [
        () => claim(work, [4]),
        () => settle(work, [served(1)]),
        () => ledger.setNotAttempted(work, "host", { excluded: 4 }),
      ];
      // Also the second time: calls of a lost run may still be on their way.
      for (const attempt of [...attempts, ...attempts]) expect(await lossOf(attempt())).toBe("undone");
      for (let nth = 0; nth < 2; nth++) expect(await campaigns.end(work, "completed", 100)).toBe("undone");
      expect(await campaigns.find(work.campaignId)).toMatchObject({
        status: "running",
        counts: { success: 0, failure: 0, notAttempted: 0 },
      });
      const again = await takeCampaign(campaigns, work.campaignId);
      expect(again.epoch).toBe(work.epoch + 1);
      await settle(again, [served(1)]);
      expect(await campaigns.end(again, "completed", 100)).toBe("ended");
    });

    test("a released campaign is free after its delay", async () => {
      const { campaigns, campaign, claim, clock } = await start();
      const work = await campaign();
      await campaigns.release(work, 5_000);
      expect(await lossOf(claim(work, [1]))).toBe("taken");
      expect(await campaigns.waiting()).toEqual({ count: 1, oldestCreatedAt: 100 });
      clock.setSecs(104);
      expect(await campaigns.take(roomBeside(), 104)).toEqual([]);
      clock.setSecs(105);
      const again = await takeCampaign(campaigns, work.campaignId, { nowSecs: 105 });
      expect(again).toMatchObject({ epoch: work.epoch + 1, runs: 2 });
      expect((await campaigns.find(work.campaignId))?.startedAt).toBe(100);
      expect(await campaigns.waiting()).toEqual({ count: 0, oldestCreatedAt: null });
    });

    test("returns which of some campaigns have ended or do not exist", async () => {
      const { campaigns, campaign } = await start();
      const [first, second] = [await campaign("n"), await campaign("m")];
      await campaigns.end(first, "completed", 200);
      const asked = ["unknown", second.campaignId, first.campaignId];
      expect((await campaigns.ended(asked)).sort()).toEqual([first.campaignId, "unknown"].sort());
      expect(await campaigns.ended([])).toEqual([]);
    });

    test("the number of tokens that were not attempted only grows, whatever the order of its writes", async () => {
      const { campaigns, campaign, ledger } = await start();
      const work = await campaign();
      await ledger.setNotAttempted(work, "h", { excluded: 5, duplicate: 1 });
      await ledger.setNotAttempted(work, "h", { excluded: 3 });
      await ledger.setNotAttempted(work, "h", { excluded: 5, duplicate: 2 });
      await ledger.setNotAttempted(work, "h", { excluded: 4 });
      // Concurrent calls are written together.
      await Promise.all([1, 2, 1].map((excluded) => ledger.setNotAttempted(work, "g", { excluded })));
      expect((await campaigns.find(work.campaignId))?.counts).toMatchObject({ notAttempted: 9 });
      expect((await campaigns.breakdown(work.campaignId, 9)).byReason).toEqual([
        { kind: "not_attempted", reason: "duplicate", count: 2 },
        { kind: "not_attempted", reason: "excluded", count: 7 },
      ]);
    });

    test("adds up what is written together, also equal numbers of two outcomes", async () => {
      const { campaigns, campaign, ledger } = await start();
      const work = await campaign();
      const both = (fid: number) => [served(fid), failed(fid + 1)];
      // Concurrent calls are written together.
      await Promise.all(
        [1, 3, 5].map((fid) =>
          ledger.record(work, "h", { tokens: both(fid), outcomes: both(fid) }, TTL_SECS),
        ),
      );
      expect((await campaigns.find(work.campaignId))?.counts).toMatchObject({ success: 3, failure: 3 });
      expect((await campaigns.breakdown(work.campaignId, 9)).byHost).toEqual([
        { host: "h", kind: "failure", reason: "timeout", count: 3 },
        { host: "h", kind: "success", reason: "", count: 3 },
      ]);
      await Promise.all([
        ledger.setNotAttempted(work, "g", { excluded: 1 }),
        ledger.record(work, "h", { tokens: [served(7)], outcomes: [served(7)] }, TTL_SECS),
      ]);
      const counts = { success: 4, failure: 3, notAttempted: 1 };
      expect((await campaigns.find(work.campaignId))?.counts).toEqual(counts);
    });

    test("the ledger of a notification is swept in small steps when all of it has expired", async () => {
      const { campaigns, campaign, ledger, sweep, rows, clock } = await start();
      const work = await campaign();
      // Each in its own row.
      const spread = Array.from({ length: 95 }, (_, at) => ({ fid: at * BLOCK_FIDS, clientFid: 1 }));
      await ledger.claim(work, spread, 30);
      const results = spread.map((token) => ({ ...token, ...success }));
      await record(ledger, work, "h", results, 5_000_000);
      // A small ledger, which expires first and shares a step with the other.
      const small = await campaign("small");
      await record(ledger, small, "h", results.slice(0, 5), 4_000_000);
      clock.setSecs(5_000_100);
      // The ledger of an unfinished campaign stays, however old it is.
      expect(await sweep("dedupe", 10)).toBe(0);
      for (const run of [work, small]) await campaigns.end(run, "completed", 200);
      expect(await sweep("dedupe", 10)).toBeGreaterThanOrEqual(100);
      expect([await rows("dedupe"), await rows("dedupe_keys")]).toEqual([0, 0]);
    });

    test("the ledger of a notification is kept for the time of its campaign, and for a success as long as that", async () => {
      const { campaigns, campaign, ledger, sweep, clock } = await start();
      const [unsent, sent] = [await campaign("unsent"), await campaign("sent")];
      for (const [work, result] of [
        [unsent, failed(1)],
        [sent, served(1)],
      ] as const) {
        await record(ledger, work, "h", [result], 2 * TTL_SECS);
        await campaigns.end(work, "completed", 200);
      }
      for (const secs of [TTL_SECS, 2 * TTL_SECS]) {
        clock.setSecs(100 + secs - 1);
        expect([secs, await sweep("dedupe", 10)]).toEqual([secs, 0]);
        clock.advanceSecs(1);
        expect(await sweep("dedupe", 10)).toBeGreaterThan(0);
      }
    });

    test("a finished campaign and its rows are deleted 30 days after its creation", async () => {
      const { campaigns, campaign, ledger, sweep, rows, clock } = await start();
      const [old, unfinished, young] = [await campaign(), await campaign(), await campaign("n", "app", 200)];
      const results = Array.from({ length: 25 }, (_, at) => ({
        fid: at * BLOCK_FIDS,
        clientFid: 1,
        kind: "failure" as const,
        reason: "rate_limited",
        isRetryable: true,
      }));
      for (const work of [old, unfinished, young]) await record(ledger, work, "h", results, 1);
      await campaigns.end(old, "completed", 150);
      await campaigns.end(young, "completed", 250);

      expect(await sweep("campaign_progress", 10)).toBe(50);
      expect(await rows("campaign_failures")).toBe(25);
      clock.setSecs(99 + CAMPAIGN_RETENTION_SECS + SWEEP_MARGIN_SECS);
      expect(await sweep("campaigns", 10)).toBe(0);
      clock.advanceSecs(1);
      // Its row, its two counts and its retryable fids.
      expect(await sweep("campaigns", 10)).toBe(28);
      expect(await campaigns.find(old.campaignId)).toBeUndefined();
      expect(await campaigns.find(unfinished.campaignId)).toBeDefined();
      expect(await campaigns.retryableFids(young.campaignId, -1, 100)).toHaveLength(25);
    });

    test("lists the campaigns of an app, newest first", async () => {
      const { campaigns } = await start();
      for (const id of ["a", "b", "c", "d"])
        await create(campaigns, id, { appId: id === "c" ? "app2" : "app" });
      const page = await campaigns.list({ appId: "app", before: Number.MAX_SAFE_INTEGER, max: 2 });
      expect(page.map(({ campaignId }) => campaignId)).toEqual(["d", "b"]);
      const rest = await campaigns.list({ appId: "app", before: page.at(-1)?.seq ?? 0, max: 2 });
      expect(rest.map(({ campaignId }) => campaignId)).toEqual(["a"]);
    });
  });
}

function create(
  campaigns: CampaignStore,
  campaignId: string,
  input: { notificationId?: string; appId?: string; at?: number; maxUnderWay?: number },
) {
  const { notificationId = "n", appId = "app", at = 100, maxUnderWay = 100 } = input;
  return campaigns.create(
    {
      campaignId,
      appId,
      notification: { notificationId, title: "T", body: "B", targetUrl: "https://app.example" },
      audience: { targetFids: [], excludeFids: [1], followingFid: 3 },
      createdAt: at,
      ledgerSecs: TTL_SECS,
    },
    maxUnderWay,
  );
}

/** Runs a sweep until it has nothing left; fails when a step deletes more than its limit. */
export async function sweepAll(sweeps: readonly Sweep[], name: string, maxRows: number): Promise<number> {
  const sweep = sweeps.find((one) => one.name === name);
  if (!sweep) throw new Error(`there is no sweep ${name}`);
  let total = 0;
  for (;;) {
    const { deleted, more } = await sweep.step(maxRows);
    expect(deleted).toBeLessThanOrEqual(maxRows);
    total += deleted;
    if (!more) return total;
  }
}
