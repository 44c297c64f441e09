import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeScores } from "../../src/db/index/counts/scores.ts";
import { accountRecords } from "../support/node.ts";
import { type PushClient, startPushClient } from "../support/push-client.ts";
import { APP_ID, type SendApi, type SendBody, startSendApi, testApp } from "../support/send.ts";
import { linkMessage } from "../support/social.ts";
import { localStores } from "../support/state-stores.ts";

let api: SendApi;
let client: PushClient;
beforeEach(async () => {
  client = startPushClient();
  api = await startSendApi();
  const url = (host: string) => `http://${host}.example:${client.port}/n`;
  api.addTokens([
    { fid: 10, url: url("a"), token: "t10" },
    { fid: 11, url: url("b"), token: "t11" },
    { fid: 12, clientFid: 1, url: url("a"), token: "t12a" },
    { fid: 12, clientFid: 2, url: url("b"), token: "t12b" },
    { fid: 13, url: url("a"), token: "t13", enabled: false },
    { fid: 14, url: url("a"), token: "t14" },
    { fid: 10, appId: "anotherApp111111", url: url("a"), token: "foreign" },
  ]);
});
afterEach(async () => {
  await api[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
});

/** The fids that were sent to, and the counts: success, failure, not attempted. */
async function send(body: SendBody) {
  const before = client.requests.length;
  const response = await api.send(body);
  const { success_count, failure_count, not_attempted_count } = response.body;
  const reached = client.requests
    .slice(before)
    .flatMap(({ tokens }) => tokens)
    .sort();
  return { reached, counts: [success_count, failure_count, not_attempted_count] };
}

const everybody = ["t10", "t11", "t12a", "t12b", "t14"];

test.each([
  ["no list", {}, everybody, [5, 0, 0]],
  ["an empty list", { target_fids: [] }, everybody, [5, 0, 0]],
  ["a list, with repetitions", { target_fids: [12, 10, 12, 10] }, ["t10", "t12a", "t12b"], [3, 0, 0]],
  ["fids without a token or with a disabled one", { target_fids: [13, 999, 14] }, ["t14"], [1, 0, 0]],
  ["fids that there cannot be", { target_fids: [2 ** 53, 2 ** 64, 0] }, [], [0, 0, 0]],
  ["exclusions from all", { exclude_fids: [12, 999] }, ["t10", "t11", "t14"], [3, 0, 2]],
  ["exclusions from a list", { target_fids: [10, 11], exclude_fids: [11, 14] }, ["t10"], [1, 0, 1]],
  [
    "what is read and not enforced",
    { minimum_user_score: 0.9, near_location: { latitude: 1 } },
    everybody,
    [5, 0, 0],
  ],
  ["nulls", { following_fid: null, minimum_user_score: null, near_location: null }, everybody, [5, 0, 0]],
] as [string, SendBody, string[], number[]][])("%s", async (_name, body, reached, counts) => {
  expect(await send(body)).toEqual({ reached, counts });
});

describe("following_fid", () => {
  function follow(fid: number, target: number, type = "follow"): void {
    const { node } = api.signed.api;
    const outcomes = [
      ...node.ingestAll(accountRecords(fid)),
      node.ingestMessage(linkMessage(fid, type, target)),
    ];
    if (outcomes.some((outcome) => outcome !== "ok")) throw new Error(outcomes.join());
  }

  test("selects exactly the followers in the live index", async () => {
    follow(10, 3);
    follow(12, 3);
    follow(14, 4);
    follow(11, 3, "block");
    expect(await send({ following_fid: 3 })).toEqual({ reached: ["t10", "t12a", "t12b"], counts: [3, 0, 2] });
    expect(await send({ following_fid: 3, exclude_fids: [12], target_fids: [10, 11, 12] })).toEqual({
      reached: ["t10"],
      counts: [1, 0, 3],
    });
    const response = await api.send({ following_fid: 3, exclude_fids: [12] });
    const campaign = await api.campaign(response.body.campaign_id);
    expect(campaign.not_attempted).toEqual({ excluded: 2, not_following: 2 });
  });

  test("selects no one for an fid without followers or an impossible fid", async () => {
    expect(await send({ following_fid: 3 })).toEqual({ reached: [], counts: [0, 0, 5] });
    expect(await send({ following_fid: 2 ** 60 })).toEqual({ reached: [], counts: [0, 0, 5] });
  });
});

test("a send and its estimate leave out users banned by the app's owner at that moment, and count them as excluded", async () => {
  const { moderation } = localStores(api.state);
  const by = { keyId: null, nowSecs: 1 };
  const bounds = { bans: 10, mutesOfUser: 1, mutes: 1 };
  const { ownerFid } = testApp();
  await moderation.ban(ownerFid, [10, 12], by, bounds);
  await moderation.ban(ownerFid + 1, [14], by, bounds);
  expect(await send({ exclude_fids: [11, 12] })).toEqual({ reached: ["t14"], counts: [1, 0, 4] });
  const response = await api.send({ target_fids: [10, 14] });
  expect((await api.campaign(response.body.campaign_id)).not_attempted).toEqual({ excluded: 1 });
  const estimate = await api.signed.call({
    method: "POST",
    path: "/frame/app/campaign/estimate",
    body: { app_id: APP_ID },
    fid: ownerFid,
  });
  expect(estimate.body).toMatchObject({ tokens: 2, fids: 2 });
  await moderation.unban(ownerFid, [10]);
  expect((await send({ exclude_fids: [11] })).reached).toEqual(["t10", "t14"]);
});

test("a least score leaves out users with less where scores decide on sends", async () => {
  await using scored = await startSendApi({ settings: ["scores.mode=imported", "scores.enforce=sends"] });
  const { db } = scored.signed.api.node;
  const runId = writeScores(db, {
    step: "begin",
    run: { kind: "imported", at: 1, method: "csv", params: {}, seeds: [] },
  });
  const rows = [60, 50, 49].map((score, at) => ({
    ...{ fid: 10 + at, score, state: 0, rank: 0, viaFid: 0, sources: null, note: null },
  }));
  writeScores(db, { step: "rows", runId, rows });
  writeScores(db, { step: "finish", runId, stats: {} });
  scored.addTokens(
    [10, 11, 12, 13].map((fid) => ({ fid, url: `http://a.example:${client.port}/n`, token: `s${fid}` })),
  );
  const { body } = await scored.send({ minimum_user_score: 0.5 });
  expect(body).toMatchObject({ success_count: 2, failure_count: 0, not_attempted_count: 2 });
  expect(client.requests.flatMap(({ tokens }) => tokens).sort()).toEqual(["s10", "s11"]);
  expect((await scored.send({ minimum_user_score: 0 })).body).toMatchObject({ success_count: 4 });
});

test("reaches each token of many pages and hosts once, for everyone or a list of fids", async () => {
  const many = Array.from({ length: 3000 }, (_, at) => ({
    fid: 1000 + at,
    url: `http://h${at % 130}.example:${client.port}/n`,
    token: `many${at}`,
  }));
  api.addTokens(many);
  const whole = await send({ exclude_fids: [10, 11, 12, 14] });
  expect(whole).toEqual({ reached: many.map(({ token }) => token).sort(), counts: [3000, 0, 5] });
  const listed = await send({ target_fids: many.map(({ fid }) => fid) });
  expect(listed).toEqual({ reached: whole.reached, counts: [3000, 0, 0] });
  const { body } = await api.send({ target_fids: many.map(({ fid }) => fid) });
  const campaign = await api.campaign(body.campaign_id);
  expect([campaign.client_hosts.length, campaign.client_host_count]).toEqual([100, 130]);
});
