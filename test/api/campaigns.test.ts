import { afterEach, beforeEach, expect, test } from "bun:test";
import { violationsOf } from "../support/exposition.ts";
import { nested, startPushClient } from "../support/push-client.ts";
import { APP_ID, SECRET, type SendApi, startSendApi } from "../support/send.ts";

let api: SendApi;
beforeEach(async () => {
  api = await startSendApi();
});
afterEach(() => api[Symbol.asyncDispose]());

const get = (path: string, fid = 3) => api.signed.call({ method: "GET", path, fid });

test("returns a campaign to its owner with its counts by client host and by reason", async () => {
  await using a = startPushClient(() => nested({ successful: ["t1"], rateLimited: ["t2", "t3"] }));
  await using b = startPushClient(() => new Response("", { status: 403 }));
  const at = (port: number, fid: number) => ({ fid, url: `http://c.example:${port}/`, token: `t${fid}` });
  api.addTokens([at(a.port, 1), at(a.port, 2), at(a.port, 3), at(b.port, 4), at(b.port, 5)]);
  const uuid = "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10";
  const now = api.signed.nowSecs();
  const notification = { title: "T", body: "B", target_url: "https://app.example/x", uuid };
  const { campaign_id } = (await api.send({ notification, exclude_fids: [5] })).body;
  const { status, body } = await get(`/frame/app/campaign?campaign_id=${campaign_id}`);
  const hosts = body.campaign.client_hosts;
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      campaign: {
        campaign_id,
        app_id: APP_ID,
        status: "completed",
        notification,
        success_count: 1,
        failure_count: 3,
        not_attempted_count: 1,
        audience_count: 5,
        tokens_per_second: null,
        created_at: now,
        started_at: now,
        completed_at: now,
        client_hosts: hosts,
        client_host_count: 2,
        errors: { http_403: 1, rate_limited: 2 },
        not_attempted: { excluded: 1 },
        retryable_fids: [2, 3],
        schedule_id: null,
      },
    },
  });
  expect(hosts).toEqual([
    {
      host: `c.example:${a.port}`,
      success_count: 1,
      failure_count: 2,
      not_attempted_count: 0,
      errors: { rate_limited: 2 },
    },
    {
      host: `c.example:${b.port}`,
      success_count: 0,
      failure_count: 1,
      not_attempted_count: 1,
      errors: { http_403: 1 },
    },
  ]);
  expect((await get(`/frame/app/campaign?campaign_id=${campaign_id.toUpperCase()}`)).status).toBe(200);
});

test("rejects other fids and unsigned requests", async () => {
  const { campaign_id } = (await api.send()).body;
  const one = `/frame/app/campaign?campaign_id=${campaign_id}`;
  const all = `/frame/app/campaigns?app_id=${APP_ID}`;
  expect([(await get(one, 4)).status, (await get(all, 4)).status]).toEqual([403, 403]);
  for (const path of [one, all]) {
    const call = { method: "GET", path } as const;
    expect((await api.signed.send(call, {})).status).toBe(401);
    expect((await api.signed.call({ ...call, op: "webhook.read" })).status).toBe(400);
  }
});

test.each([
  ["/frame/app/campaign", 400],
  ["/frame/app/campaign?campaign_id=nobody", 404],
  ["/frame/app/campaigns", 400],
  ["/frame/app/campaigns?app_id=nobody", 404],
  [`/frame/app/campaigns?app_id=${APP_ID}&limit=0`, 400],
  [`/frame/app/campaigns?app_id=${APP_ID}&cursor=x`, 400],
])("%s is %i", async (path, status) => {
  expect((await get(path)).status).toBe(status);
});

test("the campaigns of a deleted app are deleted", async () => {
  const { campaign_id } = (await api.send()).body;
  await api.signed.call({ method: "DELETE", path: `/frame/app?app_id=${APP_ID}` });
  expect((await get(`/frame/app/campaign?campaign_id=${campaign_id}`)).status).toBe(404);
});

test("pages contain every campaign once, newest first, while others are added", async () => {
  const sent: string[] = [];
  for (let at = 0; at < 7; at++) sent.unshift((await api.send()).body.campaign_id);
  for (const limit of [1, 3, 100]) {
    const walked: string[] = [];
    let cursor = "";
    do {
      const { body } = await get(`/frame/app/campaigns?app_id=${APP_ID}&limit=${limit}${cursor}`);
      walked.push(...body.campaigns.map((each: { campaign_id: string }) => each.campaign_id));
      cursor = body.next.cursor === null ? "" : `&cursor=${body.next.cursor}`;
      sent.unshift((await api.send()).body.campaign_id);
    } while (cursor !== "");
    expect(walked).toEqual(sent.slice(-walked.length));
    expect(walked.length).toBeGreaterThanOrEqual(7);
  }
});

/** 250 tokens of one page: three calls, which one slot makes one after another. */
test.each([
  ["a batch waits for its slot", () => undefined],
  ["a batch waits for its next attempt", () => new Response("", { status: 503 })],
])(
  "when an app is deleted while %s, no further call starts, and the campaign is aborted",
  async (_, first) => {
    await using one = await startSendApi({ settings: ["send.send_concurrency=1"] });
    let isDeleted = false;
    let late = 0;
    await using client = startPushClient(async ({ tokens }) => {
      if (isDeleted) late += 1;
      else await one.signed.call({ method: "DELETE", path: `/frame/app?app_id=${APP_ID}` });
      isDeleted = true;
      return first() ?? nested({ successful: tokens });
    });
    const url = `http://c.example:${client.port}/`;
    one.addTokens(Array.from({ length: 250 }, (_, at) => ({ fid: 10 + at, url, token: `t${at}` })));
    const { status, body } = await one.send();
    expect([status, late]).toEqual([200, 0]);
    // What was sent before is counted.
    expect(body.success_count).toBe(first() ? 0 : 100);
    const row = one.state.sqlite.query<{ status: string }, []>("SELECT status FROM campaigns").get();
    expect(row?.status).toBe("aborted");
    expect((await one.send({}, { key: SECRET })).status).toBe(404);
  },
);

test("metrics and status report sends", async () => {
  await using client = startPushClient(() => nested({ successful: ["t1"] }));
  api.addTokens([1, 2].map((fid) => ({ fid, url: `http://c.example:${client.port}/`, token: `t${fid}` })));
  await api.send();
  const text = await api.signed.api.metrics();
  const host = `c.example:${client.port}`;
  for (const line of [
    `svc_send_tokens_total{host="${host}",outcome="success"} 1`,
    `svc_send_tokens_total{host="${host}",outcome="failure"} 1`,
    'svc_send_call_seconds_bucket{le="+Inf"} 1',
    "svc_send_call_seconds_count 1",
    "svc_send_calls_in_flight 0",
    "svc_send_batches_waiting 0",
    "svc_send_queue_age_seconds 0",
    "svc_send_hosts_down 0",
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  expect(violationsOf(text)).toEqual([]);
});
