import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CLOSED_PORT } from "../support/addresses.ts";
import { allServed, lists, nested, type PushScript, startPushClient } from "../support/push-client.ts";
import { startRawReceiver } from "../support/receiver.ts";
import { type SendApi, startSendApi, type TokenSpec, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

let api: SendApi;
beforeAll(async () => {
  api = await startSendApi();
});
beforeEach(() => api.reset());
afterAll(() => api[Symbol.asyncDispose]());

const UUID = "0b6d9d1e-4b7c-4a3f-9a51-1f6f0c7c2a10";

/** Tokens t0, t1, … of the fids 10, 11, … */
function tokensAt(port: number, count: number, host = "client.example"): TokenSpec[] {
  return Array.from({ length: count }, (_, at) => ({
    fid: 10 + at,
    url: `http://${host}:${port}/notify`,
    token: `t${at}`,
  }));
}

const countsOf = ({ success_count, failure_count, not_attempted_count }: Record<string, number>) => [
  success_count,
  failure_count,
  not_attempted_count,
];

interface Case {
  readonly name: string;
  readonly tokens: number;
  readonly script: PushScript;
  /** Counts of successes and failures; their sum is the number of tokens. */
  readonly counts: readonly [number, number];
  readonly errors?: Record<string, number>;
  readonly retryable?: readonly number[];
  readonly left?: readonly string[];
  readonly calls?: number;
}

const big = new Uint8Array(10 * 1024 * 1024).fill(0x20);

const cases: readonly Case[] = [
  { name: "lists under result", tokens: 3, script: allServed, counts: [3, 0] },
  {
    name: "bare lists",
    tokens: 3,
    script: ({ tokens }) => Response.json(lists({ successful: tokens })),
    counts: [3, 0],
  },
  {
    name: "only one of the lists",
    tokens: 2,
    script: ({ tokens }) => Response.json({ successfulTokens: tokens }),
    counts: [2, 0],
  },
  {
    name: "invalid tokens, which are deleted",
    tokens: 3,
    script: () => nested({ successful: ["t0"], invalid: ["t1"], rateLimited: ["t2"] }),
    counts: [1, 2],
    errors: { invalid_token: 1, rate_limited: 1 },
    retryable: [12],
    left: ["t0", "t2"],
  },
  {
    name: "tokens that it does not name, which stay",
    tokens: 3,
    script: () => nested({ successful: ["t0"] }),
    counts: [1, 2],
    errors: { missing_from_response: 2 },
    left: ["t0", "t1", "t2"],
  },
  {
    name: "tokens that nobody sent",
    tokens: 1,
    script: () => nested({ successful: ["t0", "stranger"], invalid: ["other"], rateLimited: ["third"] }),
    counts: [1, 0],
    left: ["t0"],
  },
  {
    name: "tokens in two lists, each counted once",
    tokens: 3,
    script: () => nested({ successful: ["t0"], invalid: ["t1"], rateLimited: ["t0", "t1", "t2", "t2"] }),
    counts: [1, 2],
    errors: { invalid_token: 1, rate_limited: 1 },
    retryable: [12],
    left: ["t0", "t2"],
  },
  {
    name: "failed tokens, of which only invalid_token deletes",
    tokens: 4,
    script: () =>
      nested({
        failed: [
          { token: "t0", reason: "domain_mismatch" },
          { token: "t1", reason: "invalid_token" },
          { token: "t2", reason: "unknown" },
          { token: "t3", reason: "words of its own" },
        ],
      }),
    counts: [0, 4],
    errors: { failed_domain_mismatch: 1, invalid_token: 1, failed_unknown: 1, failed_other: 1 },
    left: ["t0", "t2", "t3"],
  },
  {
    name: "500, then 200",
    tokens: 2,
    script: (request, nth) => (nth === 0 ? new Response("no", { status: 500 }) : allServed(request, nth)),
    counts: [2, 0],
    calls: 2,
  },
  {
    name: "429 with Retry-After, then 200",
    tokens: 2,
    script: (request, nth) =>
      nth === 0
        ? new Response("", { status: 429, headers: { "retry-after": "0" } })
        : allServed(request, nth),
    counts: [2, 0],
    calls: 2,
  },
  {
    name: "429 every time: three attempts, then a failure that is not retryable by its token",
    tokens: 2,
    script: () => new Response("", { status: 429 }),
    counts: [0, 2],
    errors: { http_429: 2 },
    calls: 3,
  },
  {
    name: "503 every time",
    tokens: 1,
    script: () => new Response("", { status: 503 }),
    counts: [0, 1],
    errors: { http_503: 1 },
    calls: 3,
  },
  {
    name: "403, which is not retried",
    tokens: 1,
    script: () => new Response("", { status: 403 }),
    counts: [0, 1],
    errors: { http_403: 1 },
    calls: 1,
  },
  {
    name: "a redirect, which is not followed",
    tokens: 1,
    script: () => new Response("", { status: 307, headers: { location: "/elsewhere" } }),
    counts: [0, 1],
    errors: { redirect: 1 },
    calls: 1,
  },
  {
    name: "10 MB",
    tokens: 1,
    script: () => new Response(big),
    counts: [0, 1],
    errors: { response_too_large: 1 },
    left: ["t0"],
    calls: 1,
  },
  {
    name: "broken JSON",
    tokens: 1,
    script: () => new Response('{"result":{"successfulTokens":["t0"'),
    counts: [0, 1],
    errors: { malformed_response: 1 },
    calls: 1,
  },
  {
    name: "JSON of another shape",
    tokens: 1,
    script: () => Response.json({ ok: true }),
    counts: [0, 1],
    errors: { malformed_response: 1 },
  },
  {
    name: "a list that is none",
    tokens: 1,
    script: () => Response.json({ result: { successfulTokens: "t0" } }),
    counts: [0, 1],
    errors: { malformed_response: 1 },
  },
];

describe("a client that responds", () => {
  test.each(cases.map((each) => [each.name, each] as const))("%s", async (_name, each) => {
    await using client = startPushClient(each.script);
    api.addTokens(tokensAt(client.port, each.tokens));
    const { status, body } = await api.send();
    expect(status).toBe(200);
    expect(countsOf(body)).toEqual([...each.counts, 0]);
    expect(each.counts[0] + each.counts[1]).toBe(each.tokens);
    expect(body.retryable_fids).toEqual([...(each.retryable ?? [])]);
    expect(client.violations).toEqual([]);
    if (each.calls !== undefined) expect(client.requests).toHaveLength(each.calls);
    if (each.left) expect(api.tokens()).toEqual([...each.left]);
    const campaign = await api.campaign(body.campaign_id);
    expect(campaign.errors).toEqual(each.errors ?? {});
    expect(campaign.status).toBe("completed");
    expect(countsOf(campaign)).toEqual(countsOf(body));
    expect(campaign.client_hosts.map(({ host }: { host: string }) => host)).toEqual([
      `client.example:${client.port}`,
    ]);
  });

  test("sends the same notification id and fields with every attempt of a batch", async () => {
    await using client = startPushClient((request, nth) =>
      nth < 2 ? new Response("", { status: 502 }) : allServed(request, nth),
    );
    api.addTokens(tokensAt(client.port, 1));
    const { body } = await api.send();
    const expected = {
      notificationId: body.campaign_id,
      title: "Your move",
      body: "Mira took your rook.",
      targetUrl: "https://app.example/game/7",
      tokens: ["t0"],
    };
    expect(client.requests).toEqual([expected, expected, expected]);
  });

  test("waits before each further attempt, twice as long as before the one before it", async () => {
    await using patient = await startSendApi({ timings: { backoffMs: 100 } });
    const calledAt: number[] = [];
    await using client = startPushClient((request, nth) => {
      calledAt.push(performance.now());
      return nth < 2 ? new Response("", { status: 502 }) : allServed(request, nth);
    });
    patient.addTokens(tokensAt(client.port, 1));
    expect(countsOf((await patient.send()).body)).toEqual([1, 0, 0]);
    const [first = 0, second = 0, third = 0] = calledAt;
    // The jitter is a fifth; a timer may fire a millisecond early.
    expect(second - first).toBeGreaterThanOrEqual(79);
    expect(third - second).toBeGreaterThanOrEqual(159);
  });

  test("tries three times when nothing arrives for longer than a call may take", async () => {
    await using impatient = await startSendApi({ timings: { timeoutMs: 400 } });
    await using client = startPushClient(() => new Promise<Response>(() => undefined));
    impatient.addTokens(tokensAt(client.port, 1));
    const { body } = await impatient.send();
    expect(countsOf(body)).toEqual([0, 1, 0]);
    expect((await impatient.campaign(body.campaign_id)).errors).toEqual({ timeout: 1 });
    expect(client.requests).toHaveLength(3);
  });

  test("tries a reset connection three times", async () => {
    await using receiver = startRawReceiver((socket) => socket.terminate());
    api.addTokens(tokensAt(receiver.port, 2));
    const { body } = await api.send();
    expect(countsOf(body)).toEqual([0, 2, 0]);
    expect(receiver.connections).toBe(3);
    expect((await api.campaign(body.campaign_id)).errors).toEqual({ reset: 2 });
  });

  test("fails when no process listens, and never calls a URL of an internal address", async () => {
    api.addTokens([
      ...tokensAt(CLOSED_PORT, 1),
      { fid: 99, url: "https://private.example/notify", token: "inside" },
    ]);
    const { body } = await api.send();
    expect(countsOf(body)).toEqual([0, 2, 0]);
    expect((await api.campaign(body.campaign_id)).errors).toEqual({ connect: 1, refused_url: 1 });
  });
});

describe("batches", () => {
  test("calls each URL separately with at most 100 tokens, each token once", async () => {
    await using a = startPushClient();
    await using b = startPushClient();
    const tokens = Array.from({ length: 455 }, (_, at) => ({
      fid: 10 + at,
      url: at % 3 === 0 ? `http://b.example:${b.port}/x` : `http://a.example:${a.port}/${at % 2}`,
      token: `t${at}`,
    }));
    api.addTokens(tokens);
    const { body } = await api.send();
    expect(countsOf(body)).toEqual([455, 0, 0]);
    const sent = [...a.requests, ...b.requests];
    expect(Math.max(...sent.map((request) => request.tokens.length))).toBe(100);
    expect(sent.flatMap((request) => request.tokens).sort()).toEqual(tokens.map(({ token }) => token).sort());
    // 303 tokens of two URLs, 152 of the third: all batches but the last of each are full.
    expect(a.requests).toHaveLength(4);
    expect(b.requests).toHaveLength(2);
    expect([...a.violations, ...b.violations]).toEqual([]);
  });

  test("sends to tokens that all have different URLs", async () => {
    await using client = startPushClient();
    api.addTokens(
      tokensAt(client.port, 700).map((token) => ({ ...token, url: `${token.url}/${token.fid}` })),
    );
    expect(countsOf((await api.send()).body)).toEqual([700, 0, 0]);
    expect([client.requests.length, client.shown.size]).toEqual([700, 700]);
  });

  test("sends to both clients of one fid, and once to a token that is in two rows", async () => {
    await using client = startPushClient();
    const url = `http://client.example:${client.port}/notify`;
    api.addTokens([
      { fid: 10, clientFid: 1, url, token: "a" },
      { fid: 10, clientFid: 2, url, token: "b" },
      { fid: 11, clientFid: 1, url, token: "a" },
    ]);
    expect(countsOf((await api.send()).body)).toEqual([3, 0, 0]);
    expect(client.requests.map(({ tokens }) => tokens)).toEqual([["a", "b"]]);
  });
});

describe("the same notification sent again", () => {
  test("reaches only tokens that were rate limited", async () => {
    await using client = startPushClient(({ tokens }, nth) =>
      nth === 0 ? nested({ successful: ["t0"], rateLimited: ["t1"] }) : nested({ successful: tokens }),
    );
    api.addTokens(tokensAt(client.port, 2));
    const body = { notification: { title: "T", body: "B", target_url: "https://app.example", uuid: UUID } };
    const first = await api.send(body);
    expect([...countsOf(first.body), first.body.retryable_fids]).toEqual([1, 1, 0, [11]]);
    const second = await api.send(body);
    expect([...countsOf(second.body), second.body.retryable_fids]).toEqual([1, 0, 1, []]);
    const third = await api.send(body);
    expect(countsOf(third.body)).toEqual([0, 0, 2]);
    expect((await api.campaign(third.body.campaign_id)).not_attempted).toEqual({ duplicate: 2 });
    expect(client.requests.map(({ tokens }) => tokens)).toEqual([["t0", "t1"], ["t1"]]);
    expect(new Set(client.requests.map(({ notificationId }) => notificationId))).toEqual(new Set([UUID]));
  });

  test.each([
    ["a failure of its client", () => new Response("", { status: 400 })],
    ["a response that does not name it", () => nested({})],
    ["a client that is unreachable", () => new Response("", { status: 500 })],
  ])("is sent after %s", async (_name, refuse) => {
    let isWell = false;
    await using client = startPushClient((request, nth) => (isWell ? allServed(request, nth) : refuse()));
    api.addTokens(tokensAt(client.port, 1));
    const body = { notification: { title: "T", body: "B", target_url: "https://app.example", uuid: UUID } };
    expect(countsOf((await api.send(body)).body)).toEqual([0, 1, 0]);
    isWell = true;
    expect(countsOf((await api.send(body)).body)).toEqual([1, 0, 0]);
    expect(countsOf((await api.send(body)).body)).toEqual([0, 0, 1]);
  });

  test("counts as a new one after 24 hours, for another app, and without a uuid", async () => {
    await using client = startPushClient();
    api.addTokens(tokensAt(client.port, 1));
    const body = { notification: { title: "T", body: "B", target_url: "https://app.example", uuid: UUID } };
    expect(countsOf((await api.send(body)).body)).toEqual([1, 0, 0]);
    api.signed.api.node.clock.advanceSecs(86_399);
    expect(countsOf((await api.send(body)).body)).toEqual([0, 0, 1]);
    api.signed.api.node.clock.advanceSecs(1);
    expect(countsOf((await api.send(body)).body)).toEqual([1, 0, 0]);
    expect(countsOf((await api.send()).body)).toEqual([1, 0, 0]);
    expect(countsOf((await api.send()).body)).toEqual([1, 0, 0]);
    const appId = "otherApp11111111";
    const app = testApp({
      appId,
      secrets: [{ uid: "u", value: "6".repeat(64), createdAt: 1, expiresAt: null }],
    });
    await localStores(api.state).apps.create(app, 10);
    api.addTokens(tokensAt(client.port, 1).map((token) => ({ ...token, appId })));
    const other = await api.send(body, { appId, key: "6".repeat(64) });
    expect(countsOf(other.body)).toEqual([1, 0, 0]);
  });

  test("reaches each token once with twelve concurrent sends", async () => {
    await using client = startPushClient();
    api.addTokens(tokensAt(client.port, 1500));
    const body = { notification: { title: "T", body: "B", target_url: "https://app.example", uuid: UUID } };
    // Eight of one app run concurrently; the others follow.
    const responses = await Promise.all(Array.from({ length: 12 }, () => api.send(body)));
    const total = responses.map((response) => countsOf(response.body));
    for (const counts of total)
      expect(counts.reduce((sum, count) => (sum ?? 0) + (count ?? 0), 0)).toBe(1500);
    expect(total.reduce((sum, [success]) => sum + (success ?? 0), 0)).toBe(1500);
    const sent = client.requests.flatMap(({ tokens }) => tokens);
    expect(sent).toHaveLength(1500);
    expect(new Set(sent).size).toBe(1500);
    expect(Math.max(...client.shown.values())).toBe(1);
  });
});

test("does not delete as invalid a token that was renewed during the send", async () => {
  await using client = startPushClient(() => {
    api.state.sqlite.run("UPDATE tokens SET token = 'renewed' WHERE token = 't0'");
    return nested({ invalid: ["t0", "t1"] });
  });
  api.addTokens(tokensAt(client.port, 2));
  expect(countsOf((await api.send()).body)).toEqual([0, 2, 0]);
  expect(api.tokens()).toEqual(["renewed"]);
});
