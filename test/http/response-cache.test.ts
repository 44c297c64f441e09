import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { type CachedResponse, ResponseCache } from "../../src/http/response/response-cache.ts";
import { startTestApi } from "../support/api.ts";
import { type RunHttpOptions, runHttp } from "../support/http.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { linkMessage } from "../support/social.ts";

/** The hook that `operation({ cache: "shared" })` returns. */
const cached: object = { cache: "shared" };

/** A server whose reads count their executions, over data whose versions and time the test sets. */
function startCounting(options: RunHttpOptions = {}) {
  const data = {
    version: 1,
    versionReads: 0,
    commit: undefined as number | undefined,
    otherChanges: [0, 0],
    nowMs: 1_700_000_000_000,
    made: 0,
  };
  const gate = { started: Promise.withResolvers<void>(), opened: Promise.resolve() };
  const clock = { nowMs: () => data.nowMs };
  const dataVersion = () => {
    data.versionReads += 1;
    return data.version;
  };
  const commits = { read: () => data.commit };
  const otherChanges = [0, 1].map((at) => () => data.otherChanges[at] ?? 0);
  const cache = new ResponseCache({ index: { dataVersion }, commits, otherChanges, clock });
  const said = () => {
    data.made += 1;
    return { made: data.made };
  };
  const routes = new Elysia({ name: "counting" })
    .get("/read", said, cached)
    .get(
      "/slow",
      async () => {
        const response = said();
        gate.started.resolve();
        await gate.opened;
        return response;
      },
      cached,
    )
    .get(
      "/missing",
      ({ status }) => {
        said();
        return status(404, { message: "no" });
      },
      cached,
    )
    .get("/undeclared", said)
    .get("/revalidated", said, { cache: "revalidate" } as object)
    .post("/read", said);
  const http = runHttp({ ...options, plugins: [routes], clock, cache });
  const request = async (path: string, init?: RequestInit) => {
    const response = await fetch(http.api(path), init);
    return {
      response,
      made: response.status === 304 ? undefined : ((await response.json()) as { made: number }).made,
    };
  };
  return Object.assign(http, { data, gate, request });
}

describe("the response to a repeated request", () => {
  test("is cached while neither the data nor the second changes", async () => {
    await using http = startCounting();
    await http.request("/read?a=1");
    const first = await http.request("/read?a=1");
    http.data.nowMs += 999;
    const second = await http.request("/read?a=1");
    // The first response to a URL is not stored.
    expect([first.made, second.made]).toEqual([2, 2]);
    const comparable = ({ headers }: Response) =>
      [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
    expect(comparable(second.response)).toEqual(comparable(first.response));
    expect(second.response.headers.get("x-request-id")).not.toBe(first.response.headers.get("x-request-id"));
    expect((await http.request("/read?a=2")).made).toBe(3);
    expect((await http.request("/read/?a=1")).made).toBe(4);
  });

  test("is built again after a commit and after the second", async () => {
    await using http = startCounting();
    await http.request("/read");
    expect((await http.request("/read")).made).toBe(2);
    http.data.version += 1;
    expect((await http.request("/read")).made).toBe(3);
    expect((await http.request("/read")).made).toBe(3);
    http.data.nowMs += 1000;
    expect((await http.request("/read")).made).toBe(4);
  });

  test("is sent without a look at the file while no commit is known and the second is the same", async () => {
    await using http = startCounting();
    http.data.commit = 1;
    await http.request("/read");
    const readsFor = async (change: () => void) => {
      change();
      const before = http.data.versionReads;
      const { made } = await http.request("/read");
      return { made, reads: http.data.versionReads - before };
    };
    expect(await readsFor(() => undefined)).toEqual({ made: 2, reads: 1 });
    expect(await readsFor(() => undefined)).toEqual({ made: 2, reads: 0 });
    const commit = (number: number | undefined) => () => {
      http.data.commit = number;
    };
    // A commit that is under way may be visible already.
    expect(await readsFor(commit(undefined))).toEqual({ made: 2, reads: 1 });
    expect(await readsFor(() => (http.data.version += 1))).toEqual({ made: 3, reads: 1 });
    expect(await readsFor(commit(2))).toEqual({ made: 3, reads: 1 });
    expect(await readsFor(() => undefined)).toEqual({ made: 3, reads: 0 });
    // What is not in the index is in no version of it.
    for (const at of [0, 1]) {
      expect(await readsFor(() => (http.data.otherChanges[at] = 1))).toEqual({ made: 4, reads: 0 });
      http.data.made = 3;
    }
    // Another process has no number in this one.
    expect(await readsFor(() => (http.data.nowMs += 1000))).toEqual({ made: 4, reads: 1 });
  });

  test("is not one that was started before a commit", async () => {
    await using http = startCounting();
    await http.request("/slow");
    const gate = Promise.withResolvers<void>();
    http.gate.started = Promise.withResolvers<void>();
    http.gate.opened = gate.promise;
    const outdated = http.request("/slow");
    await http.gate.started.promise;
    http.data.version += 1;
    // This request makes the new version current while the old response is still in progress.
    await http.request("/read");
    gate.resolve();
    expect((await outdated).made).toBe(2);
    expect((await http.request("/slow")).made).toBe(4);
  });

  test("is 304 if the client has it, with its own request id and CORS headers", async () => {
    await using http = startCounting({ http: { cors_origins: ["https://app.example"] } });
    const from = (origin: string, more = {}) => ({ headers: { origin, ...more } });
    await http.request("/read", from("https://app.example"));
    const { response } = await http.request("/read", from("https://app.example"));
    http.data.made = 1;
    const etag = response.headers.get("etag") ?? "";
    const again = await http.request("/read", from("https://app.example", { "if-none-match": etag }));
    expect(again.response.status).toBe(304);
    expect(again.response.headers.get("content-type")).toBeNull();
    expect(again.response.headers.get("etag")).toBe(etag);
    expect(again.response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(again.response.headers.get("vary")).toBe("accept-encoding, origin");
    const other = await http.request("/read", from("https://evil.example"));
    expect(other.made).toBe(2);
    // Headers of one response do not appear in the next.
    expect(other.response.headers.get("content-type")).toBe("application/json");
    expect(other.response.headers.get("access-control-allow-origin")).toBeNull();
    expect(other.response.headers.get("vary")).toBe("accept-encoding, origin");
    expect(http.data.made).toBe(1);
  });

  test("is stored even if the first client already had it", async () => {
    await using http = startCounting();
    const etag = (await http.request("/read")).response.headers.get("etag") ?? "";
    http.data.nowMs += 1000;
    http.data.made = 0;
    expect((await http.request("/read", { headers: { "if-none-match": etag } })).response.status).toBe(304);
    expect((await http.request("/read")).made).toBe(1);
    expect(http.data.made).toBe(1);
  });

  test("is counted as a response of its route", async () => {
    await using http = startCounting();
    for (let n = 0; n < 3; n++) await http.request("/read");
    const metrics = await (await fetch(`${http.url}/metrics`)).text();
    expect(metrics).toContain('svc_http_requests_total{method="GET",route="/v2/svc/read",status="200"} 3');
    expect(http.logLines.filter(({ route }) => route === "/v2/svc/read")).toHaveLength(3);
  });
});

test("errors, writes, HEAD and responses of routes without a declaration are not cached", async () => {
  await using http = startCounting();
  for (const path of ["/missing", "/undeclared", "/undeclared/", "/revalidated"]) {
    const before = http.data.made;
    await http.request(path);
    await http.request(path);
    expect([path, http.data.made - before]).toEqual([path, 2]);
  }
  const before = http.data.made;
  for (const method of ["HEAD", "POST", "HEAD", "POST"]) await fetch(http.api("/read"), { method });
  expect(http.data.made - before).toBe(4);
});

test("limits the size of cached bodies in every coding, and of URLs", () => {
  const cache = new ResponseCache({ index: { dataVersion: () => 1 }, clock: { nowMs: () => 0 } });
  const response = (bytes: number, codedBytes = 0): CachedResponse => ({
    body: new Uint8Array(bytes),
    coded: new Map(codedBytes > 0 ? [["gzip", new Uint8Array(codedBytes)]] : []),
    etag: "",
    route: "",
  });
  const cachedAt = (url: string) => {
    const cached = cache.lookUp(url);
    return typeof cached === "number" ? undefined : cached;
  };
  const isCached = (url: string) => cachedAt(url) !== undefined;
  const store = (url: string, bytes: number, codedBytes?: number) => {
    cache.lookUp(url);
    const generation = cache.lookUp(url);
    if (typeof generation !== "number") throw new Error("cached before");
    cache.store(url, response(bytes, codedBytes), generation);
    return generation;
  };
  const mib = 1024 * 1024;
  const urls = Array.from({ length: 40 }, (_, n) => `http://x/${n}`);
  const [first = 0] = urls.map((url) => store(url, mib));
  // Fifteen with their URLs fill the cache; it was cleared twice.
  expect(urls.filter(isCached)).toEqual(urls.slice(30));
  store("http://x/huge", 17 * mib);
  expect(isCached("http://x/huge")).toBe(false);
  store("http://x/coded", mib, 16 * mib);
  expect(isCached("http://x/coded")).toBe(false);
  cache.store("http://x/late", response(1), first);
  expect(isCached("http://x/late") || isCached("http://x/late")).toBe(false);

  // Ten are stored; five more in another coding fit, six do not.
  const compress = (url: string) => {
    const cached = cachedAt(url);
    if (cached) cache.use(cached, ({ coded }) => coded.set("br", new Uint8Array(mib)));
  };
  for (const url of urls.slice(30, 35)) compress(url);
  expect(urls.filter(isCached)).toEqual(urls.slice(30));
  compress(urls[35] ?? "");
  expect(urls.filter(isCached)).toEqual([]);

  // What was compressed before counts once.
  store("http://x/twice", mib, 6 * mib);
  compress("http://x/twice");
  expect(isCached("http://x/twice")).toBe(true);

  const long = (name: string) => `http://x/${name}${"a".repeat(9 * mib)}`;
  for (const name of ["b", "c"]) store(long(name), 1);
  expect(["b", "c"].map((name) => isCached(long(name)))).toEqual([false, true]);
});

test("a cached read shows a commit of another connection at once", async () => {
  await using api = await startTestApi();
  for (const fid of [1, 2]) api.node.ingestAll(accountRecords(fid));
  const followers = async () => (await api.get("/user?fid=2")).body.user;
  for (let n = 1; n <= 20; n++) {
    const link = linkMessage(1, "follow", 2, { remove: n % 2 === 0, at: DEFAULT_TIMESTAMP + n });
    expect(api.node.ingestMessage(link)).toBe("ok");
    for (let repeat = 0; repeat < 3; repeat++) {
      expect(await followers()).toMatchObject({ follower_count: n % 2 });
    }
  }
  api.takeStatements();
  await followers();
  const once = api.takeStatements().length;
  for (let repeat = 0; repeat < 3; repeat++) await followers();
  expect(api.takeStatements()).toHaveLength(once);
});

test("a response started in a generation that is over is not stored, whichever URL ended it", () => {
  const data = { version: 1 };
  const cache = new ResponseCache({ index: { dataVersion: () => data.version }, clock: { nowMs: () => 0 } });
  const generationOf = (url: string): number => {
    cache.lookUp(url);
    const found = cache.lookUp(url);
    if (typeof found !== "number") throw new Error("a response is stored");
    return found;
  };
  const response = (text: string): CachedResponse => ({
    body: Buffer.from(text),
    etag: text,
    coded: new Map(),
    route: "/read",
  });
  const outdated = generationOf("/a");
  data.version += 1;
  const current = generationOf("/b");
  cache.store("/a", response("outdated"), outdated);
  expect(cache.lookUp("/a")).toBe(current);
  cache.store("/a", response("current"), current);
  expect(cache.lookUp("/a")).toMatchObject({ etag: "current" });
  cache.clear();
  cache.store("/a", response("outdated"), current);
  expect(cache.lookUp("/a")).toBe(generationOf("/b"));
});
