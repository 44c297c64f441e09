import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { type CachedResponse, ResponseCache } from "../../src/http/response-cache.ts";
import { startTestApi } from "../support/api.ts";
import { type RunHttpOptions, runHttp } from "../support/http.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { linkMessage } from "../support/social.ts";

/** As `operation({ cache: "shared" })` declares it. */
const cached: object = { cache: "shared" };

/** A server whose reads count how often they are made, over data whose version and time the test decides. */
function startCounting(options: RunHttpOptions = {}) {
  const data = { version: 1, nowMs: 1_700_000_000_000, made: 0 };
  const gate = { begun: Promise.withResolvers<void>(), opened: Promise.resolve() };
  const clock = { nowMs: () => data.nowMs };
  const cache = new ResponseCache({ dataVersion: () => data.version, clock });
  const said = () => {
    data.made += 1;
    return { made: data.made };
  };
  const routes = new Elysia({ name: "counting" })
    .get("/read", said, cached)
    .get(
      "/slow",
      async () => {
        const answer = said();
        gate.begun.resolve();
        await gate.opened;
        return answer;
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
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(http.api(path), init);
    return {
      response,
      made: response.status === 304 ? undefined : ((await response.json()) as { made: number }).made,
    };
  };
  return Object.assign(http, { data, gate, ask });
}

describe("the answer to a question that comes again", () => {
  test("is the one before while neither the data nor the second has changed", async () => {
    await using http = startCounting();
    await http.ask("/read?a=1");
    const first = await http.ask("/read?a=1");
    http.data.nowMs += 999;
    const second = await http.ask("/read?a=1");
    // What was asked for once may never be asked for again, and is not kept.
    expect([first.made, second.made]).toEqual([2, 2]);
    const comparable = ({ headers }: Response) =>
      [...headers].filter(([name]) => !["x-request-id", "date"].includes(name));
    expect(comparable(second.response)).toEqual(comparable(first.response));
    expect(second.response.headers.get("x-request-id")).not.toBe(first.response.headers.get("x-request-id"));
    expect((await http.ask("/read?a=2")).made).toBe(3);
    expect((await http.ask("/read/?a=1")).made).toBe(4);
  });

  test("is made anew after a commit and after the second", async () => {
    await using http = startCounting();
    await http.ask("/read");
    expect((await http.ask("/read")).made).toBe(2);
    http.data.version += 1;
    expect((await http.ask("/read")).made).toBe(3);
    expect((await http.ask("/read")).made).toBe(3);
    http.data.nowMs += 1000;
    expect((await http.ask("/read")).made).toBe(4);
  });

  test("is not the one whose making a commit overtook", async () => {
    await using http = startCounting();
    await http.ask("/slow");
    const gate = Promise.withResolvers<void>();
    http.gate.begun = Promise.withResolvers<void>();
    http.gate.opened = gate.promise;
    const overtaken = http.ask("/slow");
    await http.gate.begun.promise;
    http.data.version += 1;
    // Whoever asks now makes the new version the current one, while the old answer is still under way.
    await http.ask("/read");
    gate.resolve();
    expect((await overtaken).made).toBe(2);
    expect((await http.ask("/slow")).made).toBe(4);
  });

  test("is 304 for who holds it, with an id of its own and what a browser needs", async () => {
    await using http = startCounting({ http: { cors_origins: ["https://app.example"] } });
    const from = (origin: string, more = {}) => ({ headers: { origin, ...more } });
    await http.ask("/read", from("https://app.example"));
    const { response } = await http.ask("/read", from("https://app.example"));
    http.data.made = 1;
    const etag = response.headers.get("etag") ?? "";
    const again = await http.ask("/read", from("https://app.example", { "if-none-match": etag }));
    expect(again.response.status).toBe(304);
    expect(again.response.headers.get("content-type")).toBeNull();
    expect(again.response.headers.get("etag")).toBe(etag);
    expect(again.response.headers.get("access-control-allow-origin")).toBe("https://app.example");
    expect(again.response.headers.get("vary")).toBe("accept-encoding, origin");
    const other = await http.ask("/read", from("https://evil.example"));
    expect(other.made).toBe(2);
    // Nothing of one answer is in the next.
    expect(other.response.headers.get("content-type")).toBe("application/json");
    expect(other.response.headers.get("access-control-allow-origin")).toBeNull();
    expect(other.response.headers.get("vary")).toBe("accept-encoding, origin");
    expect(http.data.made).toBe(1);
  });

  test("is kept also where the first who asked held it already", async () => {
    await using http = startCounting();
    const etag = (await http.ask("/read")).response.headers.get("etag") ?? "";
    http.data.nowMs += 1000;
    http.data.made = 0;
    expect((await http.ask("/read", { headers: { "if-none-match": etag } })).response.status).toBe(304);
    expect((await http.ask("/read")).made).toBe(1);
    expect(http.data.made).toBe(1);
  });

  test("counts as an answer of its route", async () => {
    await using http = startCounting();
    for (let n = 0; n < 3; n++) await http.ask("/read");
    const metrics = await (await fetch(`${http.url}/metrics`)).text();
    expect(metrics).toContain('svc_http_requests_total{method="GET",route="/v2/svc/read",status="200"} 3');
    expect(http.logLines.filter(({ route }) => route === "/v2/svc/read")).toHaveLength(3);
  });
});

test("errors, writes, HEAD and whatever route does not declare it are made for each request", async () => {
  await using http = startCounting();
  for (const path of ["/missing", "/undeclared", "/undeclared/", "/revalidated"]) {
    const before = http.data.made;
    await http.ask(path);
    await http.ask(path);
    expect([path, http.data.made - before]).toEqual([path, 2]);
  }
  const before = http.data.made;
  for (const method of ["HEAD", "POST", "HEAD", "POST"]) await fetch(http.api("/read"), { method });
  expect(http.data.made - before).toBe(4);
});

test("what is cached has a bound: bodies in every coding, and URLs", () => {
  const cache = new ResponseCache({ dataVersion: () => 1, clock: { nowMs: () => 0 } });
  const response = (bytes: number, codedBytes = 0): CachedResponse => ({
    body: new Uint8Array(bytes),
    coded: new Map(codedBytes > 0 ? [["gzip", new Uint8Array(codedBytes)]] : []),
    etag: "",
    headers: new Headers(),
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
  // Fifteen with their URLs fill it; it then began anew, twice.
  expect(urls.filter(isCached)).toEqual(urls.slice(30));
  store("http://x/huge", 17 * mib);
  expect(isCached("http://x/huge")).toBe(false);
  store("http://x/coded", mib, 16 * mib);
  expect(isCached("http://x/coded")).toBe(false);
  cache.store("http://x/late", response(1), first);
  expect(isCached("http://x/late") || isCached("http://x/late")).toBe(false);

  // Ten are there; five more in another coding fit, six do not.
  const compress = (url: string) => {
    const cached = cachedAt(url);
    if (cached) cache.use(cached, ({ coded }) => coded.set("br", new Uint8Array(mib)));
  };
  for (const url of urls.slice(30, 35)) compress(url);
  expect(urls.filter(isCached)).toEqual(urls.slice(30));
  compress(urls[35] ?? "");
  expect(urls.filter(isCached)).toEqual([]);
});

test("a read shows a commit of another connection at once, however often it was asked before", async () => {
  await using api = await startTestApi();
  for (const fid of [1, 2]) api.node.takeAll(accountRecords(fid));
  const followers = async () => (await api.get("/user?fid=2")).body.user;
  for (let n = 1; n <= 20; n++) {
    const link = linkMessage(1, "follow", 2, { remove: n % 2 === 0, at: DEFAULT_TIMESTAMP + n });
    expect(api.node.takeMessage(link)).toBe("ok");
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
