import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeScores } from "../../src/db/index/counts/scores.ts";
import { MessageType, UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { createSelection, SHARES, shareOf } from "../../src/push/selection.ts";
import type { Audience, SegmentFilter } from "../../src/push/store/campaigns/campaign-store.ts";
import { packFids } from "../../src/push/store/fid-list.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../support/node.ts";
import { insertTokens } from "../support/send.ts";
import { linkMessage } from "../support/social.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

const APP = "app";
const OWNER = 3;
const DAY_SECS = 86_400;
const everyone: Audience = { targetFids: [], excludeFids: [], followingFid: null };

let node: TestNode;
let state: ReturnType<typeof openStateFile>;
beforeEach(() => {
  node = startTestNode();
  state = openStateFile();
});
afterEach(() => {
  state[Symbol.dispose]();
  node[Symbol.dispose]();
});

const now = () => nowSecs(node.clock);

/** Tokens of these users, of the client 1 unless given as `[fid, clientFid]`, with rows in the state. */
function addTokens(...people: readonly (number | readonly [fid: number, clientFid: number])[]) {
  const tokens = people.map((one) => (typeof one === "number" ? ([one, 1] as const) : one));
  insertTokens(
    state.db,
    tokens.map(([fid, clientFid]) => ({
      appId: APP,
      fid,
      clientFid,
      url: "https://c.example/",
      token: `${fid} ${clientFid}`,
    })),
  );
  return tokens.map(([fid, clientFid]) => ({ fid, clientFid }));
}

function startSelection(
  audience: Partial<Audience>,
  over: Partial<Parameters<typeof createSelection>[0]> = {},
) {
  const { tokens, opens, moderation } = localStores(state.db);
  const deps = { db: node.db, bannedAmong: moderation.bannedAmong, scores: undefined, tokens, opens };
  const selection = createSelection({ ...deps, clock: node.clock, ...over });
  return selection({ appId: APP, ownerFid: OWNER, audience: { ...everyone, ...audience } });
}

/** The fids of the users that a segment has. */
async function inSegment(segment: SegmentFilter, people: readonly { fid: number; clientFid: number }[]) {
  const { tokens, notAttempted } = await startSelection({ segment })(people);
  expect(notAttempted).toEqual({
    excluded: 0,
    not_following: 0,
    not_in_segment: people.length - tokens.length,
  });
  return tokens.map(({ fid }) => fid);
}

function declareLocation(fid: number, value: string) {
  node.ingestAll(accountRecords(fid));
  const body = {
    $case: "userDataBody",
    value: { type: UserDataType.USER_DATA_TYPE_LOCATION, value },
  } as const;
  const type = MessageType.MESSAGE_TYPE_USER_DATA_ADD;
  const message = signMessage({ type, fid, timestamp: DEFAULT_TIMESTAMP, body }, accountSigner(fid));
  expect(node.ingestMessage(message)).toBe("ok");
}

describe("a segment", () => {
  test("of client apps has their tokens, and one of fids those of these users", async () => {
    const people = addTokens(10, [10, 2], [11, 2], [12, 3]);
    expect(await inSegment({ client_fids: [2, 3] }, people)).toEqual([10, 11, 12]);
    expect(await inSegment({ fids: packFids([10, 12, 99]) }, people)).toEqual([10, 10, 12]);
    expect(await inSegment({ fids: packFids([10, 12]), client_fids: [1, 3] }, people)).toEqual([10, 12]);
  });

  test("of followers has those who follow now, and one of a channel the authors of casts in it", async () => {
    const people = addTokens(10, 11, 12);
    for (const fid of [10, 11, 12]) node.ingestAll(accountRecords(fid));
    node.ingestMessage(linkMessage(10, "follow", 5));
    node.ingestMessage(linkMessage(12, "follow", 6));
    const cast = (fid: number, channel: string) =>
      node.ingestMessage(
        signMessage(
          {
            type: MessageType.MESSAGE_TYPE_CAST_ADD,
            fid,
            timestamp: DEFAULT_TIMESTAMP,
            body: {
              $case: "castAddBody",
              value: {
                text: "x",
                parent: { $case: "parentUrl", value: `https://warpcast.com/~/channel/${channel}` },
              },
            },
          },
          accountSigner(fid),
        ),
      );
    expect([cast(11, "chess"), cast(12, "go")]).toEqual(["ok", "ok"]);
    expect(await inSegment({ following_fid: 5 }, people)).toEqual([10]);
    expect(await inSegment({ channel_id: "chess" }, people)).toEqual([11]);
    expect(await inSegment({ channel_id: "chess", following_fid: 5 }, people)).toEqual([]);
  });

  test("of a time has those whose first token was added from its start on and before its end", async () => {
    const people = addTokens(10, [10, 2], 11, 12, 13);
    const added = state.db.sqlite.query("UPDATE tokens SET created_at = ? WHERE fid = ? AND client_fid = ?");
    for (const [at, fid, clientFid] of [
      [99, 10, 1],
      [150, 10, 2],
      [100, 11, 1],
      [199, 12, 1],
      [200, 13, 1],
    ] as const)
      added.run(at, fid, clientFid);
    expect(await inSegment({ added_after: 100 }, people)).toEqual([11, 12, 13]);
    expect(await inSegment({ added_before: 200 }, people)).toEqual([10, 10, 11, 12]);
    expect(await inSegment({ added_after: 100, added_before: 200 }, people)).toEqual([11, 12]);
  });

  test("of opens has those who opened a notification in its days, or those who opened none", async () => {
    const people = addTokens(10, 11, 12);
    const open = state.db.sqlite.query(
      `INSERT INTO app_opens (campaign, fid, app_id, client_fid, opened_at, verified) VALUES (1, ?, '${APP}', 1, ?, 0)`,
    );
    open.run(10, now() - 2 * DAY_SECS);
    open.run(11, now() - 2 * DAY_SECS - 1);
    expect(await inSegment({ opened_within_days: 2 }, people)).toEqual([10]);
    expect(await inSegment({ not_opened_within_days: 2 }, people)).toEqual([11, 12]);
    expect(await inSegment({ opened_within_days: 3 }, people)).toEqual([10, 11]);
  });

  test("of zones has those whose reported zone, or else that of their location, is one of them under any of its names", async () => {
    const people = addTokens(10, 11, 12, 13, 14, 15);
    const { opens } = localStores(state.db);
    const report = (fid: number, zone: string) =>
      opens.setZone({ appId: APP, fid, zone, nowSecs: now() - DAY_SECS });
    await report(10, "Asia/Calcutta");
    await report(11, "Europe/Paris");
    declareLocation(12, "geo:22.57,88.36");
    declareLocation(13, "geo:48.85,2.35");
    // The report counts, and not the location.
    await report(14, "America/New_York");
    declareLocation(14, "geo:22.57,88.36");
    expect(await inSegment({ time_zones: ["Asia/Kolkata"] }, people)).toEqual([10, 12]);
    expect(await inSegment({ time_zones: ["Europe/Berlin", "Europe/Paris"] }, people)).toEqual([11, 13]);
    expect(await inSegment({ time_zones: ["America/New_York"] }, people)).toEqual([14]);
  });

  test("takes users with a location that is no place, or is none at all, as of no zone", async () => {
    const people = addTokens(10, 11, 12);
    for (const fid of [10, 11, 12]) declareLocation(fid, "geo:48.85,2.35");
    const store = node.db.sqlite.query("UPDATE user_data SET value = ? WHERE fid = ? AND value LIKE 'geo:%'");
    store.run("Paris", 10);
    store.run("geo:900.00,2.35", 11);
    expect(await inSegment({ time_zones: ["Europe/Paris"] }, people)).toEqual([12]);
  });
});

describe("a minimum score", () => {
  test("leaves out those with less, and those without a score as if they had the node's score of the unknown", async () => {
    const people = addTokens(10, 11, 12, 13);
    const run = { kind: "imported", at: 1, method: "csv", params: {}, seeds: [] } as const;
    const runId = writeScores(node.db, { step: "begin", run });
    const rows = [60, 50, 49].map((score, at) => ({
      ...{ fid: 10 + at, score, state: 0, rank: 0, viaFid: 0, sources: null, note: null },
    }));
    writeScores(node.db, { step: "rows", runId, rows });
    writeScores(node.db, { step: "finish", runId, stats: {} });
    const reached = async (minimumScore: number, unknown: number) => {
      const select = startSelection({ minimumScore }, { scores: { mode: "imported", unknown } });
      const { tokens, notAttempted } = await select(people);
      expect(notAttempted).toEqual({ excluded: 4 - tokens.length, not_following: 0, not_in_segment: 0 });
      return tokens.map(({ fid }) => fid);
    };
    expect(await reached(0.5, 0.5)).toEqual([10, 11, 13]);
    expect(await reached(0.5, 0.49)).toEqual([10, 11]);
    expect(await reached(0, 0)).toEqual([10, 11, 12, 13]);
  });
});

describe("a share", () => {
  const timing = { at: null, local: "2030-06-01T07:00", quiet: null, zone: "Asia/Kolkata" };
  const timeIn = (zone: string) =>
    Temporal.PlainDateTime.from(timing.local).toZonedDateTime(zone).epochMilliseconds / 1000;
  const waves = ["Asia/Tokyo", "Asia/Kolkata", "Europe/Paris"].map(timeIn);

  test("has the users from its start on and before its end, and does not count the others", async () => {
    const people = addTokens(...Array.from({ length: 50 }, (_, at) => at + 1));
    const places = people.map(({ fid }) => shareOf("s", fid)).sort((a, b) => a - b);
    const [from = 0, to = 0] = [places[10], places[20]];
    const select = (share: { from: number; to: number }) =>
      startSelection({ share: { scheduleId: "s", ...share } })(people);
    const { tokens, notAttempted } = await select({ from, to });
    expect(tokens.map(({ fid }) => shareOf("s", fid)).sort((a, b) => a - b)).toEqual(places.slice(10, 20));
    expect(notAttempted).toEqual({ excluded: 0, not_following: 0, not_in_segment: 0 });
    expect((await select({ from: 0, to: SHARES })).tokens).toHaveLength(50);
    expect(new Set(places).size).toBeGreaterThan(40);
    expect(places.every((place) => place >= 0 && place < SHARES)).toBe(true);
  });

  test("of a wave has the users of its zones: as reported before the first wave, or of their location, or the schedule's", async () => {
    const people = addTokens(10, 11, 12, 13);
    const { opens } = localStores(state.db);
    const first = waves[0] ?? 0;
    const report = (fid: number, zone: string, at: number) =>
      opens.setZone({ appId: APP, fid, zone, nowSecs: at });
    await report(10, "Asia/Tokyo", first - 3 * DAY_SECS);
    declareLocation(11, "geo:48.85,2.35");
    await report(12, "Europe/Paris", first - 3 * DAY_SECS);
    await report(12, "Asia/Tokyo", first + 60);
    const reached = await Promise.all(
      [0, 1, 2].map(async (place) => {
        const share = { scheduleId: "s", from: 0, to: SHARES, wave: { place, waves, timing } };
        return (await startSelection({ share })(people)).tokens.map(({ fid }) => fid);
      }),
    );
    expect(reached).toEqual([[10], [13], [11, 12]]);
  });
});

test("exclusions, bans and follows are counted by their reason, the first that applies", async () => {
  const people = addTokens(10, 11, 12, 13);
  for (const fid of [10, 12]) {
    node.ingestAll(accountRecords(fid));
    node.ingestMessage(linkMessage(fid, "follow", 5));
  }
  const bounds = { bans: 10, mutesOfUser: 1, mutes: 1 };
  await localStores(state.db).moderation.ban(OWNER, [11], { keyId: null, nowSecs: 1 }, bounds);
  const select = startSelection({
    excludeFids: [12],
    followingFid: 5,
    segment: { fids: packFids([11, 12, 13]) },
  });
  expect(await select(people)).toEqual({
    tokens: [],
    notAttempted: { excluded: 2, not_following: 1, not_in_segment: 1 },
  });
});
