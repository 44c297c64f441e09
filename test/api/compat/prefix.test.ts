import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPERATIONS } from "../../../src/api/operations.ts";
import { storeRankings } from "../../../src/db/index/counts/rankings.ts";
import { refreshRankings } from "../../../src/ingest/ranking.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { demoIndex } from "../../support/demo-index.ts";
import { pathsWithAliases } from "../../support/openapi.ts";
import { readAllPages } from "../../support/read-all-pages.ts";

let plain: TestApi;
let both: TestApi;

async function startDemo(compatPrefixes: readonly string[]): Promise<TestApi> {
  const api = await startTestApi({ compatPrefixes, index: await demoIndex() });
  const { db, clock } = api.node;
  const store = async (snapshot: Parameters<typeof storeRankings>[1]) => storeRankings(db, snapshot);
  await refreshRankings({ db, clock, windowHours: 24, store });
  return api;
}

beforeAll(async () => {
  plain = await startDemo([]);
  both = await startDemo(["farcaster", "old"]);
}, 180_000);

afterAll(async () => {
  await plain[Symbol.asyncDispose]();
  await both[Symbol.asyncDispose]();
});

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: unknown;
}

function operationsOf(api: TestApi): [route: string, method: string, operation: Operation][] {
  const paths = api.document.paths as unknown as Record<string, Record<string, Operation>>;
  return Object.entries(paths).flatMap(([route, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Operation] => [
      route,
      method,
      operation,
    ]),
  );
}

async function queryOf(api: TestApi): Promise<string> {
  const { body } = await api.get("/feed/trending?limit=1");
  const [cast] = body.casts as { hash: string }[];
  return (
    `fid=3&fids=3,5,9999&q=the&channel_id=bread&channel_ids=bread,books&location=geo&username=mirawren&ids=bread` +
    `&id=bread&target_fid=5&parent_urls=https://warpcast.com/~/channel/bread&hash=${cast?.hash}&fname=mirawren` +
    `&identifier=${cast?.hash}&hashes=${cast?.hash}&casts=${cast?.hash}&custody_address=0x${"1".repeat(40)}` +
    `&addresses=0x${"1".repeat(40)}&viewer_fid=5&limit=30`
  );
}

test("the native prefix returns the same bytes with and without compat prefixes, whatever clients add", async () => {
  const query = await queryOf(plain);
  let compared = 0;
  for (const [route, method, { security }] of operationsOf(plain)) {
    if (method !== "get" || security !== undefined || !route.startsWith("/v2/svc/")) continue;
    const [without, with_] = await Promise.all(
      [plain, both].map(async ({ url }) => {
        const response = await fetch(`${url}${route}?${query}`);
        return { status: response.status, etag: response.headers.get("etag"), body: await response.text() };
      }),
    );
    expect({ route, ...with_ }).toEqual({ route, ...without });
    if (without?.status === 200) compared++;
  }
  expect(compared).toBeGreaterThan(60);
});

test("documents every native operation the same with and without compat prefixes", () => {
  const own = (api: TestApi) =>
    operationsOf(api).filter(([route]) => !/^\/v2\/(?:farcaster|old)\//.test(route));
  expect(own(both)).toEqual(own(plain));
});

test("a compat prefix has exactly the native paths and those of the hosted API", () => {
  const under = (prefix: string) =>
    new Set(
      Object.entries(pathsWithAliases(both.document)).flatMap(([route, item]) =>
        route.startsWith(`/v2/${prefix}/`)
          ? Object.keys(item ?? {}).map((method) => `${method} ${route.slice(`/v2/${prefix}`.length)}`)
          : [],
      ),
    );
  const compatIds = new Set(
    OPERATIONS.flatMap(({ id, surfaces }) => (surfaces.includes("compat") ? [id] : [])),
  );
  // The service's own: the hosted API has no such operations.
  const nativeOnly = new Set(
    OPERATIONS.filter(({ id, surfaces }) => surfaces.includes("native") && !compatIds.has(id)).flatMap(
      ({ method, path, aliasesOn }) =>
        [path, ...aliasesOn("native")].map(
          (one) => `${method.toLowerCase()} ${one.replaceAll(/:(\w+)/g, "{$1}")}`,
        ),
    ),
  );
  const own = new Set([...under("svc")].filter((path) => !nativeOnly.has(path)));
  expect([...own].filter((path) => !under("farcaster").has(path))).toEqual([]);
  expect([...under("farcaster")].filter((path) => !own.has(path)).sort()).toEqual([
    "delete /channel/ban",
    "delete /channel/moderation",
    "delete /channel/pin",
    "get /app_host/user/event",
    "get /app_host/user/state",
    "get /auth_address/developer_managed",
    "get /feed/frames",
    "get /frame/catalog",
    "get /frame/notification_tokens",
    "get /frame/notifications",
    "get /frame/relevant",
    "get /frame/search",
    "get /frame/transaction/pay",
    "get /fungible/owner/relevant",
    "get /fungible/owner/relevant/bulk",
    "get /fungible/trades",
    "get /fungible/trending",
    "get /fungibles",
    "get /login/authorize",
    "get /login/nonce",
    "get /message",
    "get /nft/mint",
    "get /signer/developer_managed",
    "get /topic/trending",
    "get /user/by_x_username",
    "get /user/power",
    "get /user/relevant_followers",
    "patch /channel",
    "post /action",
    "post /app_host/user/event",
    "post /auth_address/developer_managed/signed_key",
    "post /channel/ban",
    "post /channel/moderation",
    "post /channel/pin",
    "post /frame/notifications",
    "post /frame/transaction/pay",
    "post /frame/validate",
    "post /fungible/send",
    "post /login/token",
    "post /message",
    "post /message/preview",
    "post /nft/deploy/erc721",
    "post /nft/image",
    "post /nft/metadata/token",
    "post /nft/mint",
    "post /storage/buy",
    "post /user",
  ]);
  expect(under("old")).toEqual(under("farcaster"));
});

test("operations under compat prefixes have their own ids and tags", () => {
  const all = operationsOf(both);
  const ids = all.map(([, , { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const compat = all.filter(([route]) => route.startsWith("/v2/farcaster/"));
  for (const [, , { operationId, tags }] of compat) {
    expect(operationId).toMatch(/^farcaster[A-Z]/);
    expect(tags.every((tag) => tag.startsWith("farcaster: "))).toBe(true);
  }
});

test("errors are JSON with a message; limits and cache rules equal those of the native prefix", async () => {
  const ask = (path: string, init?: RequestInit) => fetch(`${both.url}/v2/farcaster${path}`, init);
  const post = (bytes: number) => ({ method: "POST", body: "x".repeat(bytes) });
  for (const [status, request] of [
    [404, ask("/nowhere")],
    [404, ask("/user?fid=999999")],
    [400, ask("/user")],
    [404, ask("/user", { method: "PUT" })],
    [501, ask("/storage/buy", post(10))],
    [401, ask("/ban", post(10))],
    [413, ask("/batch/following", post(300_000))],
    [413, ask("/webhook", post(300_000))],
    [401, ask("/webhook/list")],
    [401, ask("/frame/app/list")],
  ] as const) {
    const response = await request;
    expect(response.status).toBe(status);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toMatchObject({ message: expect.any(String) });
  }
  const read = await ask("/user?fid=3");
  expect(read.headers.get("etag")).toMatch(/^W\//);
  const again = await ask("/user?fid=3", { headers: { "if-none-match": read.headers.get("etag") ?? "" } });
  expect(again.status).toBe(304);
});

test("browsers may send client headers only if a compat prefix is set", async () => {
  const allowed = async ({ url }: TestApi) => {
    const response = await fetch(`${url}/v2/svc/user`, { method: "OPTIONS" });
    return response.headers.get("access-control-allow-headers")?.split(", ") ?? [];
  };
  const headers = ["api_key", "x-sdk", "x-sdk-version", "x-neynar-experimental", "x-wallet-id"];
  expect(await allowed(both)).toEqual(expect.arrayContaining(["x-api-key", ...headers]));
  expect((await allowed(plain)).filter((name) => headers.includes(name))).toEqual([]);
});

test("serves both forms of a path, also after a doubled slash", async () => {
  const bodies = await Promise.all(
    [
      "/v2/farcaster/user/bulk?fids=3",
      "/v2/farcaster/user/bulk/?fids=3",
      "//v2/farcaster/user/bulk/?fids=3",
    ].map(async (path) => (await fetch(`${both.url}${path}`)).json()),
  );
  expect(bodies[0]).toMatchObject({ users: [{ fid: 3, object: "user" }] });
  expect(bodies[1]).toEqual(bodies[0]);
  expect(bodies[2]).toEqual(bodies[0]);
});

test("without compat prefixes only the native prefix is served", async () => {
  const response = await fetch(`${plain.url}/v2/farcaster/user?fid=3`);
  expect(response.status).toBe(404);
});

test("the trending feed of a channel is a subsequence of the whole feed", async () => {
  type Ranked = { readonly hash: string; readonly parent_url: string | null };
  const rankedAt = (query: string, prefix = "/v2/farcaster") =>
    readAllPages<Ranked>(both, `${prefix}/feed/trending${query}`, "casts", 7);
  const whole = await rankedAt("", "/v2/svc");
  const url = whole.find(({ parent_url }) => parent_url?.includes("/~/channel/"))?.parent_url ?? "";
  const id = url.split("/").at(-1) ?? "";
  const there = whole.filter(({ parent_url }) => parent_url?.endsWith(`/~/channel/${id}`));
  expect(there.length).toBeGreaterThan(0);
  expect(there.length).toBeLessThan(whole.length);
  const names = (casts: readonly Ranked[]) => casts.map(({ hash }) => hash);
  expect(names(await rankedAt(""))).toEqual(names(whole));
  expect(names(await rankedAt(`?channel_id=${id}`))).toEqual(names(there));
  const under = there.filter(({ parent_url }) => parent_url === url);
  expect(names(await rankedAt(`?parent_url=${encodeURIComponent(url)}`))).toEqual(names(under));
});

test("times are ISO 8601 everywhere, and absent values that clients expect as text are omitted", async () => {
  const { body } = await both.get("/v2/farcaster/feed/user/casts?fid=3&limit=100");
  const texts = JSON.stringify(body);
  expect(texts).not.toMatch(/"(?:timestamp|registered_at|created_at|expires_at|subscribed_at)":\d/);
  for (const { timestamp } of body.casts as { timestamp: string }[])
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
});
