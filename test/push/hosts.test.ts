import { expect, test } from "bun:test";
import { allServed, startPushClient } from "../support/push-client.ts";
import { APP_ID, insertTokens, startSendApi, type TokenSpec, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

const tokensAt = (name: string, port: number, count: number, from: number, appId = APP_ID): TokenSpec[] =>
  Array.from({ length: count }, (_, at) => ({
    appId,
    fid: from + at,
    url: `http://${name}.example:${port}/n`,
    token: `${name}-${at}`,
  }));

test("serves other clients while one hangs, and gives that one up when its calls fail", async () => {
  await using api = await startSendApi({ timings: { timeoutMs: 60_000 } });
  const served = Promise.withResolvers<void>();
  const inFlight: number[] = [];
  let calls = 0;
  await using hanging = startPushClient(async () => {
    inFlight.push(++calls);
    await served.promise;
    calls -= 1;
    return new Response("", { status: 503 });
  });
  await using well = startPushClient((request, nth) => {
    if (well.shown.size + request.tokens.length === 8_000) served.resolve();
    return allServed(request, nth);
  });
  const hosts = ["a", "b", "c", "d"];
  api.addTokens([
    ...tokensAt("hanging", hanging.port, 5_000, 100_000),
    ...hosts.flatMap((host, at) => tokensAt(host, well.port, 2_000, 10_000 * (at + 1))),
  ]);
  const { body } = await api.send();
  expect([body.success_count, body.failure_count, body.not_attempted_count]).toEqual([8_000, 5_000, 0]);
  // Four calls at first, then single probes.
  expect(inFlight.slice(0, 4)).toEqual([1, 2, 3, 4]);
  expect(Math.max(...inFlight.slice(4))).toBe(1);
  const campaign = await api.campaign(body.campaign_id);
  const { http_503, host_down } = campaign.errors;
  expect(http_503 + host_down).toBe(5_000);
  expect(host_down).toBeGreaterThan(0);
  expect(campaign.retryable_fids).toEqual([]);
}, 180_000);

test("sends the waiting batches to a client that recovers", async () => {
  await using api = await startSendApi();
  let calls = 0;
  await using client = startPushClient((request, nth) =>
    // The first three calls mark it down, the first probe marks it up.
    ++calls <= 3 ? new Response("", { status: 503 }) : allServed(request, nth),
  );
  api.addTokens(tokensAt("c", client.port, 2_000, 10));
  const { body } = await api.send();
  expect([body.success_count, body.failure_count]).toEqual([2_000, 0]);
}, 180_000);

test("sends to a client that was down when the notification is repeated with the same uuid", async () => {
  await using api = await startSendApi();
  let isWell = false;
  await using client = startPushClient((request, nth) =>
    isWell ? allServed(request, nth) : new Response("", { status: 500 }),
  );
  api.addTokens(tokensAt("c", client.port, 1_500, 10));
  const request = {
    notification: { title: "T", body: "B", target_url: "https://app.example", uuid: crypto.randomUUID() },
  };
  const first = await api.send(request);
  expect([first.body.success_count, first.body.failure_count]).toEqual([0, 1_500]);
  isWell = true;
  let delivered = 0;
  // It counts as down until a probe succeeds.
  while (delivered < 1_500) delivered += (await api.send(request)).body.success_count;
  expect(delivered).toBe(1_500);
  expect(new Set(client.shown.values())).toEqual(new Set([1]));
}, 180_000);

test("a large campaign to the same client or to a slow one does not delay a small campaign", async () => {
  await using api = await startSendApi({ timings: { timeoutMs: 20_000 } });
  const gate = Promise.withResolvers<void>();
  await using slow = startPushClient(async (request, nth) => {
    await gate.promise;
    return allServed(request, nth);
  });
  let calls = 0;
  await using well = startPushClient(async (request, nth) => {
    calls += 1;
    await Bun.sleep(5);
    return allServed(request, nth);
  });
  const secrets = [{ uid: "other", value: "7".repeat(64), createdAt: 1, expiresAt: null }];
  await localStores(api.state).apps.create(testApp({ appId: "smallApp11111111", secrets }), 10);
  api.addTokens(tokensAt("well", well.port, 40_000, 10));
  api.addTokens(tokensAt("slow", slow.port, 4_000, 1_000_000));
  insertTokens(api.state, tokensAt("well", well.port, 300, 10, "smallApp11111111"));
  const large = api.send();
  while (calls < 10) await Bun.sleep(1);
  const callsBefore = calls;
  const small = await api.send({}, { key: "7".repeat(64), appId: "smallApp11111111" });
  expect(small.body.success_count).toBe(300);
  // Few of the 400 calls of the large one were made meanwhile.
  expect(calls - callsBefore).toBeLessThan(200);
  gate.resolve();
  expect((await large).body.success_count).toBe(44_000);
  expect(well.mostAtATime + slow.mostAtATime).toBeLessThanOrEqual(32 + 4);
  expect(well.mostAtATime).toBeLessThanOrEqual(32);
}, 180_000);

test("keeps at most send_concurrency calls in flight over all campaigns and hosts", async () => {
  await using api = await startSendApi({ settings: ["send.send_concurrency=5"] });
  await using client = startPushClient(async (request, nth) => {
    await Bun.sleep(2);
    return allServed(request, nth);
  });
  for (const [at, host] of ["a", "b", "c", "d", "e", "f", "g", "h"].entries()) {
    api.addTokens(tokensAt(host, client.port, 500, 10_000 * (at + 1)));
  }
  const responses = await Promise.all([api.send(), api.send(), api.send()]);
  for (const { body } of responses) expect(body.success_count).toBe(4_000);
  expect(client.mostAtATime).toBe(5);
}, 180_000);
