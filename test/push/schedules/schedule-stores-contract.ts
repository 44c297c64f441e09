import { describe, expect, test } from "bun:test";
import type { Sweep } from "../../../src/db/state/state-db.ts";
import type { CampaignStore, NewCampaign } from "../../../src/push/store/campaigns/campaign-store.ts";
import type { NotificationLedger } from "../../../src/push/store/campaigns/notification-ledger.ts";
import { packFids } from "../../../src/push/store/fid-list.ts";
import type { OpenStore } from "../../../src/push/store/open-store.ts";
import type { SavedStore } from "../../../src/push/store/saved-store.ts";
import type {
  DueWave,
  NewSchedule,
  ScheduleStore,
} from "../../../src/push/store/schedules/schedule-store.ts";
import type { TokenDetails, TokenEvent, TokenStore } from "../../../src/push/store/tokens/token-store.ts";
import { roomBeside, takeCampaign } from "../../support/campaigns.ts";
import { ManualClock } from "../../support/clock.ts";
import { APP_ID } from "../../support/send.ts";
import { SWEEP_MARGIN_SECS } from "../../support/state-stores.ts";

export const START = 1_000_000;
const DAY_SECS = 86_400;

export interface ScheduleFixture extends AsyncDisposable {
  readonly campaigns: CampaignStore;
  readonly schedules: ScheduleStore;
  readonly saved: SavedStore;
  readonly opens: OpenStore;
  readonly ledger: NotificationLedger;
  readonly tokens: TokenStore;
  addApp(appId: string): Promise<void>;
  deleteApp(appId: string): Promise<void>;
  /** Adds an enabled token of a fid. */
  addToken(fid: number): Promise<void>;
  sweep(name: string): Promise<number>;
  rows(table: string): Promise<number>;
}

/** Runs a sweep to its end. */
export async function swept(sweeps: readonly Sweep[], name: string): Promise<number> {
  const sweep = sweeps.find((one) => one.name === name);
  if (!sweep) throw new Error(`no sweep ${name}`);
  let total = 0;
  for (let at = 0; at < 100; at++) {
    const { deleted, more } = await sweep.step(3);
    total += deleted;
    if (!more) return total;
  }
  throw new Error("the sweep does not end");
}

export function schedule(scheduleId: string, dues: readonly number[] = [START], appId = APP_ID): NewSchedule {
  return {
    scheduleId,
    appId,
    ownerFid: 3,
    custody: new Uint8Array(20).fill(7),
    bodyHash: new Uint8Array(32).fill(1),
    content: {
      texts: [{ title: "T", body: "B", targetUrl: "https://app.example" }],
      audience: { targetFids: [], excludeFids: [], followingFid: null },
      timing: { at: START, local: null, quiet: null, zone: "UTC" },
      times: [START],
      holdoutPercent: 0,
      lateOkSecs: 3_600,
    },
    createdAt: START - 100,
    waves: dues.map((dueAt, wave) => ({ wave, dueAt, variant: 0 })),
  };
}

export const campaign = (campaignId: string, notificationId = "s"): NewCampaign => ({
  campaignId,
  appId: APP_ID,
  notification: { notificationId, title: "T", body: "B", targetUrl: "https://app.example" },
  audience: { targetFids: [], excludeFids: [], followingFid: null },
  createdAt: START,
  ledgerSecs: DAY_SECS,
});
export const limits = { lateOkSecs: 3_600, maxUnfinished: 100 };

/** The guarantees of the stores of schedules, saved items and opens. */
export function scheduleStoresContract(
  name: string,
  open: (clock: ManualClock) => Promise<ScheduleFixture>,
): void {
  describe(name, () => {
    async function prepare() {
      const clock = new ManualClock(START);
      const fixture = await open(clock);
      await fixture.addApp(APP_ID);
      return { ...fixture, clock, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
    }
    const firstDue = async ({ schedules }: ScheduleFixture, nowSecs = START) => {
      const [wave] = await schedules.due(nowSecs, 10);
      if (!wave) throw new Error("nothing is due");
      return wave;
    };

    test("a wave becomes one campaign: the second of two calls, also at once, finds it taken", async () => {
      await using fixture = await prepare();
      const { schedules, campaigns } = fixture;
      await schedules.create(schedule("s"), 10);
      const wave = await firstDue(fixture);
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () => schedules.fire(wave, campaign("c"), limits)),
      );
      expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(7);
      expect(await fixture.rows("campaigns")).toBe(1);
      expect((await takeCampaign(campaigns, "c")).notification.notificationId).toBe("s");
      expect(await schedules.due(START + 10, 10)).toEqual([]);
      expect(await schedules.find("s")).toMatchObject({
        endedAt: START,
        waves: [{ wave: 0, state: "sent", campaignId: "c", reason: null }],
      });
    });

    test("a wave is sent from its time until it is too late, by the clock of the state", async () => {
      await using fixture = await prepare();
      const { schedules, clock } = fixture;
      await schedules.create(schedule("s", [START + 10, START + 20]), 10);
      expect(await schedules.due(START + 9, 10)).toEqual([]);
      const wave = await firstDue(fixture, START + 10);
      expect(await schedules.fire(wave, campaign("c"), limits)).toBe("early");
      clock.advanceSecs(10 + limits.lateOkSecs);
      expect(await schedules.fire(wave, campaign("c"), limits)).toBe("sent");
      const second = await firstDue(fixture, START + 30);
      clock.advanceSecs(11);
      expect(await schedules.fire(second, campaign("d"), limits)).toBe("late");
      expect(await schedules.fire(second, campaign("d"), limits)).toBe("taken");
      expect((await schedules.find("s"))?.waves.map(({ state }) => state)).toEqual(["sent", "missed"]);
      expect(await fixture.rows("campaigns")).toBe(1);
    });

    test("a wave waits while its app has too many campaigns under way", async () => {
      await using fixture = await prepare();
      const { schedules, campaigns } = fixture;
      await campaigns.create(campaign("other", "n"), 10);
      await schedules.create(schedule("s"), 10);
      const wave = await firstDue(fixture);
      expect(await schedules.fire(wave, campaign("c"), { ...limits, maxUnfinished: 1 })).toBe("too-many");
      expect(await schedules.fire(wave, campaign("c"), { ...limits, maxUnfinished: 2 })).toBe("sent");
    });

    test("the people that a schedule names are read by its campaigns only, each with its share", async () => {
      await using fixture = await prepare();
      const { schedules, campaigns } = fixture;
      const named = schedule("s", [START, START]);
      const audience = {
        targetFids: [1],
        excludeFids: [2],
        followingFid: 5,
        segment: { channel_id: "c", fids: packFids([3, 4]) },
        tracksOpens: true as const,
      };
      await schedules.create({ ...named, content: { ...named.content, audience } }, 10);
      const waves = await schedules.due(START, 10);
      const page = { appId: APP_ID, before: Number.MAX_SAFE_INTEGER, max: 10 };
      for (const read of [...waves, await schedules.find("s"), ...(await schedules.list(page))])
        expect(read?.content.audience).toEqual({ followingFid: 5, tracksOpens: true });
      const share = { scheduleId: "s", from: 0, to: 5_000 };
      for (const [at, wave] of waves.entries())
        await schedules.fire(wave, { ...campaign(`c${at}`), ...(at > 0 && { share }) }, limits);
      const taken = await campaigns.take(roomBeside(), START);
      expect(taken.map((work) => work.audience)).toEqual([audience, { ...audience, share }]);
    });

    test("a cancelled or held wave is not sent, and a sent one stays so", async () => {
      await using fixture = await prepare();
      const { schedules } = fixture;
      await schedules.create(schedule("s", [START, START, START]), 10);
      const waves = await schedules.due(START, 10);
      expect(waves.map(({ wave }) => wave)).toEqual([0, 1, 2]);
      const [first, second, third] = waves;
      if (!first || !second || !third) throw new Error("three waves are due");
      expect(await schedules.fire(first, campaign("c"), limits)).toBe("sent");
      await schedules.hold(second, "custody_moved");
      expect(await schedules.cancel("s")).toBe(1);
      expect(await schedules.cancel("s")).toBe(0);
      for (const wave of [second, third])
        expect(await schedules.fire(wave, campaign("d"), limits)).toBe("taken");
      expect((await schedules.find("s"))?.waves.map(({ state, reason }) => [state, reason])).toEqual([
        ["sent", null],
        ["held", "custody_moved"],
        ["cancelled", null],
      ]);
      expect(await schedules.cancel("nothing")).toBe(0);
    });

    test("a schedule ends when its last wave is missed, held or cancelled, and stays ended then", async () => {
      await using fixture = await prepare();
      const { schedules, clock } = fixture;
      const endings: readonly (readonly [string, (wave: DueWave) => Promise<unknown>])[] = [
        ["held", (wave) => schedules.hold(wave, "custody_moved")],
        ["missed", (wave) => schedules.fire(wave, campaign("c"), { ...limits, lateOkSecs: 9 })],
        ["cancelled", () => schedules.cancel("cancelled")],
      ];
      for (const [id, end] of endings) {
        await schedules.create(schedule(id, [START, START]), 10);
        clock.advanceSecs(10);
        for (const wave of await schedules.due(START + 100, 10)) {
          if (id !== "cancelled" || wave.wave === 1) expect((await schedules.find(id))?.endedAt).toBeNull();
          await end(wave);
          if (id === "cancelled") break;
        }
        const endedAt = (await schedules.find(id))?.endedAt;
        expect(endedAt).toBe(clock.nowMs() / 1000);
        clock.advanceSecs(10);
        expect(await schedules.cancel(id)).toBe(0);
        expect((await schedules.find(id))?.endedAt).toBe(endedAt ?? -1);
      }
    });

    test("a due wave has the time of the last wave of its schedule", async () => {
      await using fixture = await prepare();
      const { schedules } = fixture;
      await schedules.create(schedule("s", [START, START + 20, START + 10]), 10);
      expect((await firstDue(fixture)).lastDueAt).toBe(START + 20);
    });

    test("an app has a limited number of schedules with something to send, listed newest first", async () => {
      await using fixture = await prepare();
      const { schedules } = fixture;
      await fixture.addApp("other");
      for (const id of ["a", "b"]) expect(await schedules.create(schedule(id), 2)).toBe("created");
      expect(await schedules.create(schedule("c"), 2)).toBe("too-many");
      expect(await schedules.create(schedule("c", [START], "other"), 2)).toBe("created");
      await schedules.cancel("a");
      expect(await schedules.create(schedule("d"), 2)).toBe("created");
      const page = await schedules.list({ appId: APP_ID, before: Number.MAX_SAFE_INTEGER, max: 2 });
      expect(page.map(({ scheduleId }) => scheduleId)).toEqual(["d", "b"]);
      const rest = await schedules.list({ appId: APP_ID, before: page[1]?.seq ?? 0, max: 2 });
      expect(rest.map(({ scheduleId }) => scheduleId)).toEqual(["a"]);
      const { content, ...stored } = schedule("a");
      expect(rest[0]).toMatchObject({ ...stored, content: { ...content, audience: {} } });
    });

    test("the campaigns of a schedule are listed as one at the place of the first, with their sums", async () => {
      await using fixture = await prepare();
      const { schedules, campaigns } = fixture;
      await campaigns.create(campaign("before", "n"), 10);
      await schedules.create(schedule("s", [START, START]), 10);
      const listed = async (before = Number.MAX_SAFE_INTEGER) =>
        (await campaigns.list({ appId: APP_ID, before, max: 10, isGrouped: true })).map(
          ({ campaignId }) => campaignId,
        );
      const sumsNow = async () => {
        const first = await campaigns.find("c0");
        return (await campaigns.sums([first?.schedule ?? -1, 404]))[0];
      };
      const [zero, one] = await schedules.due(START, 10);
      if (!zero || !one) throw new Error("nothing is due");
      await schedules.fire(zero, campaign("c0"), limits);
      const run = await takeCampaign(campaigns, "c0");
      await campaigns.setAudienceCount(run, 0);
      await campaigns.end(run, "completed", START + 1);
      // The other part is to come.
      expect(await sumsNow()).toMatchObject({
        parts: 1,
        status: "running",
        audienceCount: null,
        endedAt: null,
      });
      await campaigns.create(campaign("between", "m"), 10);
      await schedules.fire(one, campaign("c1"), limits);
      expect(await listed()).toEqual(["between", "c0", "before"]);
      const between = await campaigns.find("between");
      expect(await listed(between?.seq)).toEqual(["c0", "before"]);
      const [second, ...none] = await campaigns.take(roomBeside(), START);
      expect([second?.campaignId, none.length]).toEqual(["before", 2]);
      const last = none.find(({ campaignId }) => campaignId === "c1");
      if (!last) throw new Error("c1 cannot be taken");
      await campaigns.end(last, "aborted", START + 9);
      const counts = { success: 0, failure: 0, notAttempted: 0 };
      expect(await sumsNow()).toMatchObject({ parts: 2, status: "aborted", counts, endedAt: START + 9 });
    });

    test("a schedule is completed when all its campaigns are, which an ungrouped list has one by one", async () => {
      await using fixture = await prepare();
      const { schedules, campaigns } = fixture;
      await schedules.create(schedule("s", [START, START]), 10);
      for (const [at, wave] of (await schedules.due(START, 10)).entries())
        await schedules.fire(wave, campaign(`c${at}`), limits);
      for (const run of await campaigns.take(roomBeside(), START))
        await campaigns.end(run, "completed", START + 9);
      const listed = await campaigns.list({ appId: APP_ID, before: Number.MAX_SAFE_INTEGER, max: 10 });
      expect(listed.map(({ campaignId }) => campaignId)).toEqual(["c1", "c0"]);
      const sums = await campaigns.sums([listed[0]?.schedule ?? -1]);
      expect(sums).toMatchObject([{ parts: 2, status: "completed", audienceCount: 0, endedAt: START + 9 }]);
    });

    test("who leaves within a day counts once, for the last campaign that had reached them in that client", async () => {
      await using fixture = await prepare();
      const { campaigns, ledger, tokens, clock } = fixture;
      const report = (fid: number, event: TokenEvent, clientFid = 9) =>
        tokens.apply(
          { appId: APP_ID, fid, clientFid, event, nowSecs: clock.nowMs() / 1000 },
          { maxChanges: 100, windowSecs: 3_600 },
        );
      const add = (fid: number, details: TokenDetails | undefined) =>
        report(fid, { name: "miniapp_added", details });
      const leave = (fid: number, name: "miniapp_removed" | "notifications_disabled", clientFid = 9) =>
        report(fid, { name }, clientFid);
      const send = async (id: string, fids: readonly number[]) => {
        await campaigns.create(campaign(id, id), 10);
        const run = await takeCampaign(campaigns, id);
        const reached = fids.map((fid) => ({ fid, clientFid: 9 }));
        await ledger.claim(run, reached, 30);
        const outcomes = reached.map((token) => ({
          ...token,
          kind: "success" as const,
          reason: "",
          isRetryable: false,
        }));
        await ledger.record(run, "c.example", { tokens: outcomes, outcomes }, DAY_SECS);
        return run.seq;
      };
      for (const fid of [1, 2, 3, 5_000]) await fixture.addToken(fid);
      for (const fid of [4, 6, 7])
        await add(fid, { url: "https://c.example/", host: "c.example", token: `t${fid}` });
      await leave(4, "notifications_disabled");
      const first = await send("first", [1, 2, 4, 6, 7, 5_000]);
      const second = await send("second", [2]);
      await leave(1, "notifications_disabled");
      await leave(1, "miniapp_removed");
      await leave(2, "miniapp_removed");
      await leave(7, "notifications_disabled");
      // Another client's token, and someone who got nothing.
      await leave(5_000, "notifications_disabled", 7);
      await leave(3, "miniapp_removed");
      // Someone who had turned notifications off before, and someone who adds the app again.
      await leave(4, "miniapp_removed");
      await add(6, undefined);
      expect(await campaigns.departures([first, second])).toEqual([
        { campaign: first, clientFid: 9, people: 2 },
        { campaign: second, clientFid: 9, people: 1 },
      ]);
      clock.advanceSecs(DAY_SECS);
      await leave(5_000, "miniapp_removed");
      expect(await campaigns.departures([first])).toEqual([{ campaign: first, clientFid: 9, people: 2 }]);
    });

    test("a schedule is deleted a month after its end, with its waves", async () => {
      await using fixture = await prepare();
      const { schedules, clock } = fixture;
      await schedules.create(schedule("s", [START, START]), 2);
      await schedules.create(schedule("open"), 2);
      await schedules.cancel("s");
      clock.advanceSecs(30 * DAY_SECS);
      expect(await fixture.sweep("schedules")).toBe(0);
      clock.advanceSecs(DAY_SECS);
      expect(await fixture.sweep("schedules")).toBe(3);
      expect([await fixture.rows("schedules"), await fixture.rows("schedule_waves")]).toEqual([1, 1]);
    });

    test("a schedule stays while one of its campaigns is unfinished, which needs its audience", async () => {
      await using fixture = await prepare();
      const { schedules, campaigns, clock } = fixture;
      await schedules.create(schedule("s"), 2);
      await schedules.fire(await firstDue(fixture), campaign("c"), limits);
      clock.advanceSecs(31 * DAY_SECS);
      expect(await fixture.sweep("schedules")).toBe(0);
      await campaigns.end(await takeCampaign(campaigns, "c"), "completed", START);
      expect(await fixture.sweep("schedules")).toBe(2);
    });

    test("an item is replaced only by one of its app and kind, and its app has a limited number and length of them", async () => {
      await using fixture = await prepare();
      const { saved } = fixture;
      await fixture.addApp("other");
      const item = (itemId: string, text = "x", appId = APP_ID) => ({
        itemId,
        appId,
        kind: "draft" as const,
        content: { text },
        createdAt: 1,
        updatedAt: 2,
      });
      const bounds = { items: 2, chars: 40 };
      expect(await saved.put(item("a"), bounds)).toBe("stored");
      expect(await saved.put({ ...item("a"), appId: "other" }, bounds)).toBe("taken");
      expect(await saved.put({ ...item("a"), kind: "segment" }, bounds)).toBe("taken");
      expect(await saved.put(item("b"), bounds)).toBe("stored");
      expect(await saved.put(item("c"), bounds)).toBe("too-many");
      expect(await saved.put(item("b", "x".repeat(20)), bounds)).toBe("too-many");
      // 12 characters and 28, exactly what is allowed.
      expect(await saved.put(item("b", "x".repeat(17)), bounds)).toBe("stored");
      expect(await saved.put(item("b", "x".repeat(18)), bounds)).toBe("too-many");
      expect(await saved.put(item("b", "new"), bounds)).toBe("stored");
      expect(await saved.find("b")).toEqual(item("b", "new"));
      expect((await saved.list(APP_ID, "draft")).map(({ itemId }) => itemId)).toEqual(["a", "b"]);
      expect(await saved.delete("other", "draft", "a")).toBe(false);
      expect(await saved.delete(APP_ID, "draft", "a")).toBe(true);
      for (const id of ["o", "p", "q", "r"])
        await saved.put(item(id, "x", "other"), { items: 10, chars: 1_000 });
      await fixture.deleteApp("other");
      expect(await fixture.sweep("saved_items")).toBe(4);
      expect(await saved.list(APP_ID, "draft")).toHaveLength(1);
    });

    test("an open counts once for a campaign and person with a token of the app, and may be verified later", async () => {
      await using fixture = await prepare();
      const { opens, campaigns, clock } = fixture;
      await campaigns.create(campaign("c"), 10);
      const { seq } = await takeCampaign(campaigns, "c", { nowSecs: START });
      for (const fid of [1, 2]) await fixture.addToken(fid);
      await opens.addLink({ token: "t", appId: APP_ID, campaign: seq, host: "h" });
      await opens.addLink({ token: "t", appId: APP_ID, campaign: 999, host: "h" });
      const opened = {
        appId: APP_ID,
        token: "t",
        fid: 1,
        clientFid: 9,
        isVerified: false,
        goal: null,
        nowSecs: START + 90,
      };
      await Promise.all([opens.add(opened), opens.add(opened), opens.add(opened)]);
      for (const other of [{ appId: "other" }, { token: "u" }, { fid: 3 }])
        await opens.add({ ...opened, ...other });
      await opens.add({ ...opened, fid: 2, isVerified: true, nowSecs: START + 2 * 3_600 + 120 });
      const count = (ageMinutes: number, verified: number, goals: number) => ({
        campaign: seq,
        clientFid: 9,
        ageMinutes,
        opens: 1,
        verified,
        goals,
      });
      expect(await opens.counts([seq])).toEqual([count(1, 0, 0), count(120, 1, 0)]);
      await opens.add({ ...opened, isVerified: true, goal: "bought", nowSecs: START + 5_000 });
      await opens.add({ ...opened, isVerified: true, goal: "again", clientFid: 10, nowSecs: START + 6_000 });
      expect(await opens.counts([seq])).toEqual([count(1, 1, 1), count(120, 1, 0)]);
      // What was noted before stays, and counts no second time.
      await opens.add({ ...opened, fid: 2, goal: "bought" });
      expect(await opens.counts([seq])).toEqual([count(1, 1, 1), count(120, 1, 1)]);
      await opens.add({ ...opened, fid: 2, isVerified: true, goal: "bought" });
      expect(await opens.counts([seq])).toEqual([count(1, 1, 1), count(120, 1, 1)]);
      expect([...(await opens.openedAmong(APP_ID, [1, 2, 3], START + 91))]).toEqual([2]);
      const run = (await campaigns.find("c"))?.seq;
      expect(run).toBe(seq);
      clock.advanceSecs(32 * DAY_SECS);
      await campaigns.end({ seq, epoch: 1, ledgerKey: 1 }, "completed", START);
      expect(await fixture.sweep("campaigns")).toBeGreaterThan(0);
      for (const table of ["app_opens", "open_counts", "open_links"])
        expect(await fixture.rows(table)).toBe(0);
    });

    test("an open without a client counts for the client of the person at the link's host, or for none", async () => {
      await using fixture = await prepare();
      const { opens, campaigns } = fixture;
      await campaigns.create(campaign("c"), 10);
      const { seq } = await takeCampaign(campaigns, "c", { nowSecs: START });
      for (const fid of [1, 2]) await fixture.addToken(fid);
      const [own] = await fixture.tokens.listLiveOf(APP_ID, [1]);
      if (!own) throw new Error("fid 1 has no token");
      const open = { appId: APP_ID, clientFid: 0, isVerified: false, goal: null };
      for (const [at, host] of [own.details.host, "other.example"].entries())
        await opens.addLink({ token: `t${at}`, appId: APP_ID, campaign: seq, host });
      await opens.add({ ...open, token: "t0", fid: 1, nowSecs: START });
      await opens.add({ ...open, token: "t1", fid: 2, goal: "bought", nowSecs: START + 60 });
      const count = (ageMinutes: number, clientFid: number, verified: number, goals: number) => ({
        campaign: seq,
        clientFid,
        ageMinutes,
        opens: 1,
        verified,
        goals,
      });
      expect(await opens.counts([seq])).toEqual([count(0, own.clientFid, 0, 0), count(1, 0, 0, 1)]);
      await opens.add({ ...open, token: "t0", fid: 1, isVerified: true, nowSecs: START + 90 });
      expect(await opens.counts([seq])).toEqual([count(0, own.clientFid, 1, 0), count(1, 0, 0, 1)]);
    });

    test("a zone is deleted when it can no longer be used, after 92 days", async () => {
      await using fixture = await prepare();
      const { opens, clock } = fixture;
      await fixture.addToken(1);
      await opens.setZone({ appId: APP_ID, fid: 1, zone: "Europe/Berlin", nowSecs: START });
      clock.advanceSecs(92 * DAY_SECS + SWEEP_MARGIN_SECS - 1);
      expect(await fixture.sweep("person_zones")).toBe(0);
      clock.advanceSecs(1);
      expect(await fixture.sweep("person_zones")).toBe(1);
    });

    test("the zone of a person changes once in two days, and the one of a time of the last day is known", async () => {
      await using fixture = await prepare();
      const { opens } = fixture;
      await fixture.addToken(1);
      const report = (zone: string, nowSecs: number, fid = 1) =>
        opens.setZone({ appId: APP_ID, fid, zone, nowSecs });
      const at = async (nowSecs: number) => (await opens.zonesAt(APP_ID, [1, 2], nowSecs)).get(1);
      await report("Europe/Berlin", START);
      await report("Europe/Berlin", START, 2);
      expect(await fixture.rows("person_zones")).toBe(1);
      expect([await at(START - 1), await at(START)]).toEqual([undefined, "Europe/Berlin"]);
      await report("Asia/Tokyo", START + DAY_SECS);
      expect(await at(START + DAY_SECS)).toBe("Europe/Berlin");
      const moved = START + 2 * DAY_SECS;
      await report("Asia/Tokyo", moved);
      expect([await at(moved - 1), await at(moved)]).toEqual(["Europe/Berlin", "Asia/Tokyo"]);
      expect(await at(moved + 90 * DAY_SECS)).toBeUndefined();
      await report("Asia/Tokyo", moved + 91 * DAY_SECS);
      expect(await at(moved + 91 * DAY_SECS - 1)).toBeUndefined();
      expect(await at(moved + 91 * DAY_SECS)).toBe("Asia/Tokyo");
    });
  });
}
