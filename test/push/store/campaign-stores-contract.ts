import { afterEach, describe, expect, test } from "bun:test";
import type { CampaignStore, CampaignWork } from "../../../src/push/store/campaign-store.ts";
import type {
  BatchResults,
  NotificationLedger,
  TokenResult,
} from "../../../src/push/store/notification-ledger.ts";
import { ManualClock } from "../../support/clock.ts";

export interface LedgerFixture extends Disposable {
  readonly campaigns: CampaignStore;
  readonly ledger: NotificationLedger;
}

const TTL_SECS = 86_400;
const tokens = (...fids: number[]) => fids.map((fid) => ({ fid, clientFid: 9 }));
const served = (fid: number): TokenResult => ({
  fid,
  clientFid: 9,
  kind: "success",
  reason: "",
  isRetryable: false,
});
const failed = (fid: number, reason = "timeout", isRetryable = false): TokenResult => ({
  fid,
  clientFid: 9,
  kind: "failure",
  reason,
  isRetryable,
});

/** Results as those of two calls. */
export function asBatches(results: readonly TokenResult[]): BatchResults[] {
  const half = results.length >> 1;
  return [results.slice(0, half), results.slice(half)].map((part) => ({ tokens: part, outcomes: part }));
}

/** The guarantees of every implementation of the campaign store and the notification ledger. */
export function campaignStoresContract(name: string, open: (clock: ManualClock) => LedgerFixture): void {
  describe(`${name}: campaign store and notification ledger`, () => {
    const opened: Disposable[] = [];
    afterEach(() => {
      for (const fixture of opened.splice(0)) fixture[Symbol.dispose]();
    });
    const start = () => {
      const clock = new ManualClock(100);
      const fixture = open(clock);
      opened.push(fixture);
      const { campaigns, ledger } = fixture;
      let made = 0;
      async function campaign(notificationId = "n", appId = "app", at = 100): Promise<CampaignWork> {
        made += 1;
        await create(campaigns, `c${made}`, { notificationId, appId, at });
        const work = await campaigns.start(`c${made}`, at);
        if (!work) throw new Error("the campaign cannot be started");
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
        return ledger.record(work, "host", asBatches(settlements), TTL_SECS);
      };
      return { ...fixture, campaign, claim, settle };
    };

    test("of two campaigns with one notification, the first one has a claim until its lease expires", async () => {
      const { campaign, claim } = start();
      const [first, second] = [await campaign(), await campaign()];
      expect(await claim(first, [1, 2])).toEqual({ taken: [1, 2], counted: [], refused: [] });
      expect(await claim(second, [1, 2, 3])).toEqual({ taken: [3], counted: [], refused: [1, 2] });
      expect(await claim(second, [1], 129)).toEqual({ taken: [], counted: [], refused: [1] });
      expect(await claim(second, [1], 130)).toEqual({ taken: [1], counted: [], refused: [] });
      expect(await claim(first, [1, 2], 130)).toEqual({ taken: [2], counted: [], refused: [1] });
    });

    test("another client of the fid, another notification and another app are claimed separately", async () => {
      const { campaign, claim, ledger } = start();
      const first = await campaign();
      await claim(first, [1]);
      const second = await campaign();
      const other = await ledger.claim(second, [{ fid: 1, clientFid: 0 }], 30);
      expect(other.claimed).toHaveLength(1);
      expect((await claim(await campaign("m"), [1])).taken).toEqual([1]);
      expect((await claim(await campaign("n", "app2"), [1])).taken).toEqual([1]);
    });

    test("a token that was sent to cannot be claimed by others for 24 hours, and counts for its own campaign", async () => {
      const { campaign, claim, settle } = start();
      const [first, second] = [await campaign(), await campaign()];
      await claim(first, [1]);
      await settle(first, [served(1)]);
      const lastSec = 100 + TTL_SECS - 1;
      expect(await claim(second, [1], lastSec)).toEqual({ taken: [], counted: [], refused: [1] });
      expect(await claim(first, [1], lastSec)).toEqual({ taken: [], counted: [1], refused: [] });
      expect(await claim(second, [1], lastSec + 1)).toEqual({ taken: [1], counted: [], refused: [] });
    });

    test("a failed token can be claimed by others, and counts for its own campaign even after another has sent it", async () => {
      const { campaign, claim, settle } = start();
      const [first, second] = [await campaign(), await campaign()];
      await claim(first, [1, 2]);
      await settle(first, [failed(1), failed(2, "rate_limited", true)]);
      expect(await claim(second, [1, 2])).toEqual({ taken: [1, 2], counted: [], refused: [] });
      await settle(second, [served(1), served(2)]);
      expect(await claim(first, [1, 2])).toEqual({ taken: [], counted: [1, 2], refused: [] });
    });

    test("a failure that is settled late does not release another campaign's claim", async () => {
      const { campaign, claim, settle } = start();
      const [first, second] = [await campaign(), await campaign()];
      await claim(first, [1]);
      await claim(second, [1], 130);
      await settle(first, [failed(1)], 131);
      const third = await campaign();
      expect((await claim(third, [1], 131)).refused).toEqual([1]);
    });

    test("after a crash the campaign claims its tokens again at once, and counts nothing twice", async () => {
      const { campaigns, campaign, claim, settle, ledger } = start();
      const work = await campaign();
      await claim(work, [1, 2, 3]);
      await settle(work, [served(1), failed(2)]);
      await ledger.countNotAttempted(work, "host", { excluded: 4, not_following: 0 });
      const again = await campaigns.start(work.campaignId, 200);
      expect(again).toEqual(work);
      if (!again) return;
      expect(await claim(again, [1, 2, 3, 4])).toEqual({ taken: [3, 4], counted: [1, 2], refused: [] });
      await ledger.countNotAttempted(again, "host", { excluded: 4 });
      await settle(again, [served(3), served(4)]);
      expect((await campaigns.find(work.campaignId))?.counts).toEqual({
        success: 3,
        failure: 1,
        notAttempted: 4,
      });
    });

    test("a settlement that is repeated because its response was lost changes nothing", async () => {
      const { campaigns, campaign, claim, settle } = start();
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
      const { campaigns, campaign, claim, settle } = start();
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
      const { campaigns, campaign, ledger } = start();
      const work = await campaign();
      await ledger.record(
        work,
        "b",
        asBatches([served(1), failed(2, "timeout"), failed(3, "timeout")]),
        1_000,
      );
      await ledger.record(work, "a", asBatches([failed(4, "http_500")]), 1_000);
      await ledger.countNotAttempted(work, "a", { excluded: 1 });
      await ledger.countNotAttempted(work, "c", { duplicate: 1 });
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
      const { campaigns, campaign, ledger } = start();
      const work = await campaign();
      const limited = [30, 10, 20].map((fid) => failed(fid, "rate_limited", true));
      await ledger.record(
        work,
        "h",
        asBatches([...limited, { ...failed(10, "rate_limited", true), clientFid: 8 }]),
        1_000,
      );
      await ledger.record(work, "h", asBatches([failed(5)]), 1_000);
      expect(await campaigns.retryableFids(work.campaignId, -1, 2)).toEqual([10, 20]);
      expect(await campaigns.retryableFids(work.campaignId, 20, 2)).toEqual([30]);
    });

    test("limits the unfinished campaigns of an app; a finished one makes room", async () => {
      const { campaigns } = start();
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, at) => create(campaigns, `c${at}`, { maxUnderWay: 3 })),
      );
      expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(3);
      expect(await create(campaigns, "other", { appId: "app2", maxUnderWay: 3 })).toBe("created");
      await campaigns.end("c0", "completed", 200);
      expect(await create(campaigns, "next", { maxUnderWay: 3 })).toBe("created");
      const underWay = await campaigns.listUnfinished();
      expect(underWay.map(({ campaignId }) => campaignId)).toEqual(["c1", "c2", "other", "next"]);
    });

    test("a finished campaign can neither be started nor finished again", async () => {
      const { campaigns } = start();
      await create(campaigns, "c", {});
      await campaigns.end("c", "aborted", 200);
      await campaigns.end("c", "completed", 300);
      expect(await campaigns.start("c", 300)).toBeUndefined();
      expect(await campaigns.find("c")).toMatchObject({ status: "aborted", startedAt: null, endedAt: 200 });
    });

    test("lists the campaigns of an app, newest first", async () => {
      const { campaigns } = start();
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
