import { afterAll, expect, test } from "bun:test";
import { createTermsOf } from "../../../src/http/route-terms.ts";
import type { TestApiOptions } from "../../support/api.ts";
import { type SignedApi, startSignedApi } from "../../support/signed-api.ts";
import { sdkClient, sdkError } from "./sdk.ts";

const start = (options: TestApiOptions = {}) => startSignedApi({ compatPrefixes: ["farcaster"], ...options });
const open = await start();
afterAll(() => open[Symbol.asyncDispose]());

async function keyOf(api: SignedApi, fields: object = {}) {
  const body = { name: "k", scopes: ["read"], ...fields };
  const created = await api.call({ method: "POST", path: "/api_key", body });
  expect(created.status).toBe(200);
  return created.body as { api_key: { api_key_id: string }; secret: string };
}

/** Structured fields (RFC 9651) of the shape `"name";a=1;b=2`. */
const FIELD = /^"(?:key|writes|anonymous)"(?:;[a-z]=\d+)+(?:, "(?:key|writes)"(?:;[a-z]=\d+)+)*$/;

test("a key has its units across all path prefixes; each response says how many are left", async () => {
  const api = open;
  const { secret } = await keyOf(api, { units_per_minute: 120, scopes: ["read", "write"] });
  const read = (path: string) =>
    fetch(`${api.api.url}/v2/farcaster${path}`, { headers: { "x-api-key": secret } });
  const first = await read("/user/bulk?fids=3");
  expect(first.headers.get("ratelimit-policy")).toBe('"key";q=120;w=60, "writes";q=120;w=60');
  expect(first.headers.get("ratelimit")).toBe('"key";r=118;t=1');
  expect(first.headers.get("access-control-expose-headers")).toContain("ratelimit, ratelimit-policy");
  const responses = await Promise.all(Array.from({ length: 200 }, () => read("/storage/usage?fid=3")));
  const admitted = responses.filter(({ status }) => status === 200);
  // Two more a second may come in while the test runs.
  expect(admitted.length).toBeGreaterThanOrEqual(118);
  expect(admitted.length).toBeLessThanOrEqual(126);
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(200 - admitted.length);
  for (const response of refused) {
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("x-error-code")).toBe("rate_limited");
    expect(response.headers.get("ratelimit")).toMatch(FIELD);
    expect(response.headers.get("ratelimit-policy")).toMatch(FIELD);
  }
  expect(
    (await sdkError(sdkClient(api.api.url, { apiKey: secret }).fetchAllChannels({ limit: 200 }))).status,
  ).toBe(429);
});

test("cached responses and 304s are charged, and a 429 keeps no one else from the cached response", async () => {
  const api = open;
  const { secret } = await keyOf(api, { units_per_minute: 10 });
  const headers = { "x-api-key": secret };
  const url = `${api.api.url}/v2/farcaster/user/by_username?username=nobody`;
  const left = async (init: RequestInit) =>
    Number(/r=(\d+)/.exec((await fetch(url, init)).headers.get("ratelimit") ?? "")?.[1]);
  const read = `${api.api.url}/v2/farcaster/user/bulk?fids=3`;
  const etag = (await fetch(read)).headers.get("etag") ?? "";
  const lefts = [await left({ headers })];
  const cached = await fetch(read, { headers: { ...headers, "if-none-match": etag } });
  expect(cached.status).toBe(304);
  expect(cached.headers.get("ratelimit")).toMatch(/r=7/);
  expect(lefts).toEqual([9]);
  for (let n = 0; n < 10; n += 1) await fetch(read, { headers });
  expect((await fetch(read, { headers })).status).toBe(429);
  expect((await fetch(read)).status).toBe(200);
  expect((await fetch(read)).headers.get("ratelimit")).toBeNull();
});

test("a batch costs by its fids", async () => {
  const api = open;
  const { secret } = await keyOf(api, { units_per_minute: 100 });
  const batch = (count: number) =>
    fetch(`${api.api.url}/v2/farcaster/batch/cast-interactions`, {
      method: "POST",
      headers: { "x-api-key": secret },
      body: JSON.stringify({ fids: Array.from({ length: count }, (_, at) => at + 1) }),
    });
  expect((await batch(3)).headers.get("ratelimit")).toMatch(/^"key";r=2[56];/);
  expect((await batch(3)).status).toBe(429);
});

test("anonymous clients count by address, an IPv6 /64 as one, whatever the prefix", async () => {
  await using api = await start({
    settings: ["http.anonymous_units_per_minute=60", "http.anonymous_burst_units=3"],
    http: { trusted_proxies: ["127.0.0.0/8", "::1/128"] },
  });
  const from = async (address: string, path: string) =>
    (await fetch(api.api.url + path, { headers: { "x-forwarded-for": address } })).status;
  const paths = [
    "/v2/svc/storage/usage?fid=3",
    "/v2/farcaster/storage/usage?fid=3",
    "/v1/info",
    "/v2/svc/none",
  ];
  expect(await Promise.all(paths.map((path) => from("203.0.113.7", path)))).toContain(429);
  expect(await from("203.0.113.8", "/v2/svc/user?fid=3")).toBe(200);
  const six = await Promise.all([1, 2, 3, 4, 5].map((n) => from(`2001:db8::${n}`, "/v2/svc/user?fid=3")));
  expect(six.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
  expect(await from("2001:db8:0:1::1", "/v2/svc/user?fid=3")).toBe(200);
  const ops = await Promise.all(
    ["/health", "/status", "/openapi.json"].map((path) => from("203.0.113.7", path)),
  );
  expect(ops).toEqual([200, 200, 200]);
});

test("more than 20 unknown keys a minute from one address are 429, and its valid keys still pass", async () => {
  const api = open;
  const { secret } = await keyOf(api);
  const read = async (key: string) =>
    (await fetch(`${api.api.url}/v2/farcaster/user/bulk?fids=3`, { headers: { "x-api-key": key } })).status;
  const unknown = await Promise.all(Array.from({ length: 40 }, (_, n) => read(`svc_unknown${n}`)));
  const refused = unknown.filter((status) => status === 401).length;
  expect(refused).toBeGreaterThanOrEqual(20);
  expect(refused).toBeLessThanOrEqual(22);
  expect(unknown.filter((status) => status === 429)).toHaveLength(40 - refused);
  expect(await read(secret)).toBe(200);
});

test("with anonymous reads off, reads under every prefix need a key, and nothing else does", async () => {
  await using api = await start({ settings: ["http.anonymous=false"] });
  const { secret } = await keyOf(api);
  const { url } = api.api;
  const ask = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    (await fetch(url + path, { headers, ...init })).status;
  const reads = [
    "/v2/svc/user?fid=3",
    "/v2/svc//user/?fid=3",
    "/v2/svc/us%65r?fid=3",
    "/v2/farcaster/user/bulk?fids=3",
    "/v1/info",
    "/v2/svc/stream?from=now",
    "/v2/svc/ban/list",
    "/v2/svc/nothing/here",
  ];
  for (const path of reads) {
    expect({ path, status: await ask(path) }).toEqual({ path, status: 401 });
    expect(await ask(path, { "x-api-key": "NONE" })).toBe(401);
  }
  for (const path of reads.slice(0, 5)) expect(await ask(path, { "x-api-key": secret })).toBe(200);
  const body = JSON.stringify({ fids: [3] });
  expect(await ask("/v2/svc/batch/following", {}, { method: "POST", body })).toBe(401);
  const submit = { method: "POST", headers: { "content-type": "application/octet-stream" }, body: "x" };
  expect(await ask("/v1/submitMessage", {}, submit)).toBe(401);
  expect(
    await ask("/v1/submitMessage", {}, { ...submit, headers: { ...submit.headers, "x-api-key": secret } }),
  ).toBe(403);
  expect(await ask("/v2/svc/user?fid=3", {}, { method: "HEAD" })).toBe(401);
  for (const path of ["/health", "/ready", "/status", "/metrics", "/docs", "/openapi.json"]) {
    expect({ path, status: await ask(path) }).toEqual({ path, status: 200 });
  }
  expect(await ask("/v2/svc/user", {}, { method: "OPTIONS" })).toBe(204);
  expect(await ask("/v2/svc/frame/webhook/x", {}, { method: "POST", body: "{}" })).not.toBe(401);
  expect((await api.call({ method: "GET", path: "/webhook/list" })).status).toBe(200);
  expect(await sdkError(sdkClient(url).fetchBulkUsers({ fids: [3] }))).toMatchObject({ status: 401 });
  const hub = await fetch(`${url}/v1/info`);
  expect(await hub.json()).toMatchObject({ errCode: "unauthenticated" });
});

test("a key's usage matches what was sent, by day and route, including errors and refusals", async () => {
  const api = open;
  const { secret, api_key } = await keyOf(api, { units_per_minute: 40 });
  const read = (path: string) =>
    fetch(`${api.api.url}/v2/farcaster${path}`, { headers: { "x-api-key": secret } });
  for (let n = 0; n < 3; n += 1) await read("/user/bulk?fids=3");
  await read("/user/bulk?fids=x");
  await read("/no/route");
  await read("/webhook/list");
  await read("/following/suggested?fid=3");
  const day = new Date(api.nowSecs() * 1000).toISOString().slice(0, 10);
  await api.api.flushUsage();
  const path = `/api_key/usage?api_key_id=${api_key.api_key_id}`;
  const usage = await api.call({ method: "GET", path: `${path}&from=${day}&to=${day}` });
  const row = (route: string, requests: number, units: number, errors: number, limited: number) => ({
    day,
    route,
    requests,
    units,
    writes: 0,
    errors,
    limited,
  });
  expect(usage.body.usage).toEqual([
    row("/v2/farcaster/following/suggested", 1, 0, 0, 1),
    row("/v2/farcaster/user/bulk", 4, 8, 1, 0),
    row("/v2/farcaster/webhook/list", 1, 0, 1, 0),
    row("unmatched", 1, 1, 1, 0),
  ]);
  expect(usage.body.totals).toEqual({ requests: 7, units: 9, writes: 0, errors: 3, limited: 1 });
  const shown = await api.call({ method: "GET", path: `/api_key?api_key_id=${api_key.api_key_id}` });
  expect(shown.body.api_key.last_used_at).toBe(api.nowSecs());
  expect((await api.call({ method: "GET", path, fid: 4 })).status).toBe(403);
  for (const bad of [
    "from=x",
    "from=2026-02-31",
    "from=2026-01-02&to=2026-01-01",
    "from=2026-01-01&to=2026-04-03",
  ]) {
    expect((await api.call({ method: "GET", path: `${path}&${bad}` })).status).toBe(400);
  }
});

test("a regular expression of a stream costs 20 units, in a query and in a body", async () => {
  await using api = await start({
    settings: ["http.anonymous_units_per_minute=60", "http.anonymous_burst_units=60"],
    http: { trusted_proxies: ["127.0.0.0/8", "::1/128"] },
  });
  let client = 0;
  const left = async (query: string, init: RequestInit = {}) => {
    const response = await fetch(`${api.api.url}/v2/svc/stream${query}`, {
      ...init,
      headers: { "x-forwarded-for": `203.0.113.${++client}`, "content-type": "application/json" },
    });
    await response.body?.cancel();
    return response.headers.get("ratelimit");
  };
  const post = (filter: object) => ({
    method: "POST",
    body: JSON.stringify({ subscription: { "cast.created": filter } }),
  });
  expect(await left("")).toStartWith('"anonymous";r=59;');
  expect(await left("?text=gm", { method: "HEAD" })).toStartWith('"anonymous";r=39;');
  expect(await left("?%74ext=gm&embeds=%28")).toStartWith('"anonymous";r=19;');
  expect(await left("", post({ text: "gm", embeds: "(" }))).toStartWith('"anonymous";r=19;');
  expect(await left("", post({ author_fids: [3] }))).toStartWith('"anonymous";r=59;');
});

test("every write costs 20 units, also one under the path of a list; a submit of a hub does, too", () => {
  const { plugins, hubPlugins } = open.api;
  const priceOf = (routes: Parameters<typeof createTermsOf>[0]) => {
    const termsOf = createTermsOf(routes);
    return ({ method, path }: (typeof routes)[number]) => [
      `${method} ${path}`,
      termsOf(method, path).price("http://h/"),
    ];
  };
  const compat = plugins.compatPlugins().flatMap(({ routes }) => routes);
  const writes = compat.filter(
    ({ method, hooks }) => method !== "GET" && hooks.access?.kind === "key" && hooks.access.scope === "write",
  );
  expect(writes.length).toBeGreaterThan(15);
  const hub = hubPlugins.flatMap(({ routes }) => routes);
  const submits = hub.filter(({ path }) => path.startsWith("/submit"));
  expect([...writes.map(priceOf(compat)), ...submits.map(priceOf(hub))]).toEqual(
    [...writes, ...submits].map(({ method, path }) => [`${method} ${path}`, 20]),
  );
});
