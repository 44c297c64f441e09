import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../support/manual-time.ts";
import { startPushClient } from "../support/push-client.ts";
import { APP_ID, type SendApi, startSendApi, testApp } from "../support/send.ts";
import { callBySession, createSession } from "../support/sessions.ts";
import { localStores } from "../support/state-stores.ts";

const notification = { title: "T", body: "B", target_url: "https://app.example/" };
const [OWNER, STRANGER, OTHER_APP] = [3, 4, "otherApp11111111"] as const;

let api: SendApi;
beforeEach(async () => {
  api = await startSendApi();
  await localStores(api.state).apps.create(
    testApp({ appId: OTHER_APP, ownerFid: STRANGER, secrets: [] }),
    10,
  );
});
afterEach(() => api[Symbol.asyncDispose]());

type Method = "GET" | "POST" | "DELETE";
const call = (fid: number, method: Method, path: string, body?: object) =>
  api.signed.call({ method, path: `/frame/app/${path}`, fid, ...(body && { body }) });

test.each([
  ["draft", { name: "D", send: { title: "secret" } }],
  ["segment", { name: "S", filter: { fids: [1, 2] } }],
] as const)(
  "a %s of an app is read, replaced, used and deleted by the app's owner only",
  async (kind, content) => {
    const saved = (await call(OWNER, "POST", kind, { app_id: APP_ID, ...content })).body[kind];
    const id = saved[`${kind}_id`];
    const other = kind === "draft" ? "segment" : "draft";
    const refused = [
      await call(STRANGER, "GET", `${kind}?app_id=${APP_ID}`),
      await call(STRANGER, "POST", kind, { app_id: APP_ID, ...content }),
      await call(STRANGER, "POST", kind, { app_id: APP_ID, [`${kind}_id`]: id, ...content }),
      await call(STRANGER, "DELETE", `${kind}?${kind}_id=${id}`),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(JSON.stringify(refused.map(({ body }) => body))).not.toContain("secret");
    const missing = [
      await call(STRANGER, "POST", kind, { app_id: OTHER_APP, [`${kind}_id`]: id, ...content }),
      await call(OWNER, "DELETE", `${other}?${other}_id=${id}`),
      await call(OWNER, "POST", kind, { app_id: APP_ID, [`${kind}_id`]: null, ...content }),
      await call(STRANGER, "POST", "campaign", { app_id: OTHER_APP, notification, segment_id: id }),
      await call(STRANGER, "POST", "campaign/estimate", { app_id: OTHER_APP, segment_id: id }),
    ];
    expect(missing.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const session = await createSession(api.signed, STRANGER);
    for (const path of [`${kind}?app_id=${APP_ID}`, `schedule?app_id=${APP_ID}`])
      expect(
        (await callBySession(api.signed, session, { method: "GET", path: `/frame/app/${path}` })).status,
      ).toBe(403);
    expect((await call(OWNER, "GET", `${kind}?app_id=${APP_ID}`)).body[`${kind}s`]).toEqual([saved]);
  },
);

test("a secret typed into a text of a draft is refused and not repeated; a hash in a link is not one", async () => {
  const key = "5e".repeat(32);
  const save = (send: object) => call(OWNER, "POST", "draft", { app_id: APP_ID, name: "D", send });
  const refused = [
    await save({ title: `0x${key}` }),
    await save({ body: `key ${key.toUpperCase()}.` }),
    await save({ title: "x".repeat(257) }),
    await save({ variants: [{ title: "a" }, { body: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }] }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect(JSON.stringify(refused.map(({ body }) => body))).not.toMatch(/5e5e|MfKQ/i);
  expect(refused[0]?.body.message).toContain("must not be a secret");
  const kept = await save({ title: `${key}5e`, target_url: `https://app.example/tx/0x${key}` });
  expect(kept.status).toBe(200);
});

test("a scheduled send reaches the 100,000 fids that a segment lists, and its schedule does not repeat the list", async () => {
  await using client = startPushClient();
  const fids = Array.from({ length: 100_000 }, (_, at) => 1_200_000 - at * 11);
  const [first = 0, second = 0, last] = [fids[0], fids[1], fids.at(-1) ?? 0];
  api.addTokens(
    [first, second, last, last + 1].map((fid) => ({
      fid,
      clientFid: 9152,
      url: `http://c.example:${client.port}/`,
      token: `t${fid}`,
    })),
  );
  const { segment } = (await call(OWNER, "POST", "segment", { app_id: APP_ID, name: "S", filter: { fids } }))
    .body;
  const body = { app_id: APP_ID, notification, segment_id: segment.segment_id, exclude_fids: [second] };
  const variants = [{ title: "A" }, { title: "B" }];
  const send_at = api.signed.nowSecs() + 3_600;
  const { schedule } = (await call(OWNER, "POST", "campaign", { ...body, variants, send_at })).body;
  expect(JSON.stringify((await call(OWNER, "GET", `schedule?app_id=${APP_ID}`)).body).length).toBeLessThan(
    2_000,
  );
  const { size } = api.state.sqlite
    .query<{ size: number }, []>("SELECT length(content) AS size FROM schedules")
    .get() ?? { size: 0 };
  expect(size).toBeLessThan(140_000);
  await call(OWNER, "DELETE", `segment?segment_id=${segment.segment_id}`);
  api.signed.api.node.clock.advanceSecs(3_600);
  const results = `campaign/results?schedule_id=${schedule.schedule_id}`;
  await until(async () => (await call(OWNER, "GET", results)).body.results.delivered === 2);
  expect((await call(OWNER, "GET", results)).body.results).toMatchObject({ delivered: 2, failed: 0 });
  expect([...client.shown.values()]).toEqual([1, 1]);
});
