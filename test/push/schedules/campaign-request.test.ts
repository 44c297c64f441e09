import { describe, expect, test } from "bun:test";
import { readCampaignRequest, readEstimateRequest } from "../../../src/push/schedules/campaign-request.ts";
import { MAX_AHEAD_SECS } from "../../../src/push/schedules/plan.ts";
import { expectErr, expectOk } from "../../support/result.ts";

const APP_URL = "https://app.example";
const notification = { title: "T", body: "B", target_url: `${APP_URL}/x` };
const NOW = Date.parse("2026-11-30T06:00:00Z") / 1000;
const DAY = 86_400;
const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const VARIANTS = [{ title: "A" }, { title: "B" }];
const NIGHT = { from: "22:00", to: "08:00" };

const read = (fields: object, nowSecs = NOW) =>
  readCampaignRequest({ app_id: "app", notification, ...fields }, APP_URL, nowSecs);
const planOf = (fields: object, nowSecs = NOW) => expectOk(read(fields, nowSecs)).plan;
const refusalOf = (fields: object, nowSecs = NOW) => expectErr(read(fields, nowSecs)).message;

describe("the plan of a send", () => {
  test("without any field is one campaign that starts at once", () => {
    expect(expectOk(read({}))).toEqual({
      notification: { title: "T", body: "B", targetUrl: `${APP_URL}/x` },
      uuid: undefined,
      audience: { targetFids: [], excludeFids: [], followingFid: null },
      segmentId: null,
      plan: {
        isScheduled: false,
        timing: { at: NOW, local: null, quiet: null, zone: "UTC" },
        lateOkSecs: 3_600,
        variants: [],
        holdoutPercent: 0,
        winnerAfterHours: undefined,
        tracksOpens: false,
      },
    });
  });

  test("has what the request says", () => {
    const fields = {
      send_at: NOW + 60,
      late_ok_secs: 600,
      variants: VARIANTS,
      holdout_percent: 20,
      winner_after_hours: 2,
      track_opens: true,
      segment_id: "people",
    };
    expect(expectOk(read(fields))).toMatchObject({
      segmentId: "people",
      plan: {
        isScheduled: true,
        timing: { at: NOW + 60, local: null, quiet: null, zone: "UTC" },
        lateOkSecs: 600,
        variants: VARIANTS,
        holdoutPercent: 20,
        winnerAfterHours: 2,
        tracksOpens: true,
      },
    });
    const local = {
      local_time: "2026-12-01T07:15",
      time_zone: "europe/berlin",
      quiet_hours: { from: "21:07", to: "06:45" },
    };
    expect(planOf(local).timing).toEqual({
      at: null,
      local: "2026-12-01T07:15",
      quiet: { from: 21 * 60 + 7, to: 6 * 60 + 45 },
      zone: "Europe/Berlin",
    });
  });

  test.each([
    ["a time", { send_at: NOW + 60 }, true],
    ["this second", { send_at: NOW }, true],
    ["a local time", { local_time: "2026-12-01T07:00" }, true],
    ["quiet hours", { quiet_hours: NIGHT }, true],
    ["variants", { variants: VARIANTS }, true],
    ["tracked links", { track_opens: true }, false],
    ["a lateness", { late_ok_secs: 60 }, false],
    ["a zone", { time_zone: "Asia/Tokyo" }, false],
  ])("with %s is stored as a schedule or starts at once", (_, fields, isScheduled) => {
    expect(planOf(fields).isScheduled).toBe(isScheduled);
  });

  test("begins between now and 30 days ahead", () => {
    expect(refusalOf({ send_at: NOW - 1 })).toBe("send_at is in the past");
    for (const at of [NOW, NOW + 30 * DAY]) expect(planOf({ send_at: at }).timing.at).toBe(at);
    expect(refusalOf({ send_at: NOW + 30 * DAY + 1 })).toBe("send_at is more than 30 days ahead");
  });

  test("with a local time begins in its first zone between now and 30 days ahead", () => {
    const local_time = "2026-12-31T07:00";
    // The clock of Kiritimati is 14 hours ahead of UTC.
    const first = Date.parse("2026-12-30T17:00:00Z") / 1000;
    expect(refusalOf({ local_time }, first + 1)).toBe("local_time is in the past in some zones");
    for (const now of [first, first - MAX_AHEAD_SECS])
      expect(planOf({ local_time }, now)).toMatchObject({ timing: { at: null, local: local_time } });
    expect(refusalOf({ local_time }, first - MAX_AHEAD_SECS - 1)).toBe(
      "local_time is more than 30 days ahead",
    );
  });

  test.each([
    ["00:00", "23:45", { from: 0, to: 1_425 }],
    ["09:59", "10:15", { from: 599, to: 615 }],
    ["19:05", "20:00", { from: 1_145, to: 1_200 }],
  ])("has quiet hours from %s to %s", (from, to, minutes) => {
    expect(planOf({ quiet_hours: { from, to } }).timing.quiet).toEqual(minutes);
  });

  test.each([
    ["quiet_hours must have a beginning and another end", { quiet_hours: { from: "22:00", to: "22:00" } }],
    ["quiet_hours.to must be on a quarter of an hour", { quiet_hours: { from: "22:00", to: "08:01" } }],
    ["send_at and local_time exclude each other", { send_at: NOW, local_time: "2026-12-01T07:00" }],
    ["holdout_percent needs variants", { holdout_percent: 10 }],
    [
      "winner_after_hours needs holdout_percent: the people who get the winner",
      { variants: VARIANTS, winner_after_hours: 2, track_opens: true },
    ],
    [
      "winner_after_hours cannot be combined with local_time or quiet_hours",
      {
        variants: VARIANTS,
        holdout_percent: 10,
        winner_after_hours: 2,
        track_opens: true,
        local_time: "2026-12-01T07:00",
      },
    ],
    [
      "winner_after_hours cannot be combined with local_time or quiet_hours",
      {
        variants: VARIANTS,
        holdout_percent: 10,
        winner_after_hours: 2,
        track_opens: true,
        quiet_hours: NIGHT,
      },
    ],
    [
      "winner_after_hours needs track_opens",
      { variants: VARIANTS, holdout_percent: 10, winner_after_hours: 2, track_opens: false },
    ],
    [
      "notification.uuid cannot be set: the id of a scheduled send is its schedule_id",
      { send_at: NOW, notification: { ...notification, uuid: UUID } },
    ],
    [
      "variants[1].target_url must be on the host of the app, app.example",
      { variants: [{ target_url: `${APP_URL}/a` }, { target_url: "https://evil.example/" }] },
    ],
    [
      "notification.target_url must be on the host of the app, app.example",
      { notification: { ...notification, target_url: "https://evil.example/" } },
    ],
  ])("is refused: %s", (message, fields) => expect(refusalOf(fields)).toBe(message));

  test("a send that starts at once may have the id of its notification, and variants the app's URLs", () => {
    expect(expectOk(read({ notification: { ...notification, uuid: UUID } })).uuid).toBe(UUID);
    const variants = [{ target_url: `${APP_URL}/a` }, {}];
    expect(planOf({ variants }).variants).toEqual(variants);
  });
});

describe("a field of a plan", () => {
  const local = "must be a date and time on a quarter of an hour, such as 2026-12-01T07:00";
  const clock = "must be a time such as 22:00";
  const zone = "must be an IANA time zone, such as Europe/Berlin";
  test.each<[string, readonly unknown[], string]>([
    [
      "local_time",
      ["2026-12-01T07:01", "2026-02-30T07:00", "2026-13-01T07:00", "2026-12-01T24:00", "2026-12-01", 7, null],
      local,
    ],
    ["time_zone", ["+05:30", "Nowhere/X", "", 1, null], zone],
  ])("%s is refused as %j", (name, values, message) => {
    for (const value of values) expect(refusalOf({ [name]: value })).toBe(`${name} ${message}`);
  });

  test("quiet_hours are two times of a day", () => {
    for (const wrong of ["24:00", "9:00", "22:60", "2200", "22:00 ", 22, null]) {
      expect(refusalOf({ quiet_hours: { ...NIGHT, from: wrong } })).toBe(`quiet_hours.from ${clock}`);
      expect(refusalOf({ quiet_hours: { ...NIGHT, to: wrong } })).toBe(`quiet_hours.to ${clock}`);
    }
    expect(refusalOf({ quiet_hours: { ...NIGHT, zone: "UTC" } })).toContain('unknown key "zone"');
  });

  test.each<[string, object, readonly unknown[], readonly unknown[]]>([
    ["send_at", {}, [NOW], [-1, NOW + 0.5, `${NOW}`]],
    ["late_ok_secs", {}, [60, DAY], [59, DAY + 1, 60.5, "60"]],
    ["holdout_percent", { variants: VARIANTS }, [1, 90], [0, 91, 1.5]],
    [
      "winner_after_hours",
      { variants: VARIANTS, holdout_percent: 1, track_opens: true },
      [1, 72],
      [0, 73, 1.5],
    ],
    ["track_opens", {}, [true, false], [1, "true", null]],
    [
      "variants",
      {},
      [
        [{}, {}],
        [{}, {}, {}, {}],
      ],
      [[], [{}], [{}, {}, {}, {}, {}]],
    ],
    [
      "variants",
      {},
      [[{ title: "x".repeat(32) }, { body: "x".repeat(128) }]],
      [
        [{ title: "" }, {}],
        [{ title: "x".repeat(33) }, {}],
        [{ body: "" }, {}],
        [{ body: "x".repeat(129) }, {}],
        [{ target_url: "http://app.example" }, {}],
        [{ uuid: UUID }, {}],
      ],
    ],
  ])("%s has bounds", (name, beside, accepted, refused) => {
    for (const value of accepted) expectOk(read({ ...beside, [name]: value }));
    for (const value of refused) expect(refusalOf({ ...beside, [name]: value })).toContain(name);
  });
});

describe("an estimate", () => {
  const estimate = (fields: object) => readEstimateRequest({ app_id: "app", ...fields }, APP_URL);

  test("has the audience without a notification", () => {
    expect(expectOk(estimate({ target_fids: [1], exclude_fids: [2], following_fid: 3 }))).toEqual({
      audience: { targetFids: [1], excludeFids: [2], followingFid: 3 },
      segmentId: null,
      uuid: undefined,
    });
    expect(expectOk(estimate({ segment_id: "people" })).segmentId).toBe("people");
  });

  test("has the id of its notification, and is refused for one that could not be sent", () => {
    const sent = { notification: { ...notification, uuid: UUID }, target_fids: [1], segment_id: "people" };
    expect(expectOk(estimate(sent))).toEqual({
      audience: { targetFids: [1], excludeFids: [], followingFid: null },
      segmentId: "people",
      uuid: UUID,
    });
    const elsewhere = { notification: { ...notification, target_url: "https://evil.example/" } };
    expect(expectErr(estimate(elsewhere)).message).toStartWith("notification.target_url must be on the host");
    expect(expectErr(estimate({ target_fids: ["1"] })).message).toContain("target_fids");
    expect(expectErr(estimate({ segment_id: 5 })).message).toContain("segment_id");
  });
});
