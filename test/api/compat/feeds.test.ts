import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Hash, type Posted } from "../../support/graph.ts";
import { readAllPages } from "../../support/read-all-pages.ts";

const ART = "https://warpcast.com/~/channel/art";
const OTHER = "https://example.org/topic";

let api: TestApi;
let graph: Graph;
/** Casts of the tests, by name. */
const casts: Record<string, Posted> = {};

const named = (hash: Hash) => Object.entries(casts).find(([, cast]) => cast.hash === hash)?.[0] ?? hash;

async function walk(path: string, limit = 2): Promise<string[]> {
  const items = await readAllPages<{ hash: Hash }>(api, `/v2/farcaster${path}`, "casts", limit);
  return items.map(({ hash }) => named(hash));
}

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  graph = createGraph(api.node);
  for (const fid of [1, 2, 3, 4, 5]) graph.account(fid);
  // 1 follows 2 and 3; no user follows 4.
  graph.link(1, "follow", 2);
  graph.link(1, "follow", 3);
  casts.a = graph.post(2, 100, { text: "a" });
  casts.b = graph.post(3, 110, { text: "b", parent: { $case: "parentUrl", value: ART } });
  casts.stranger = graph.post(4, 120, { text: "stranger" });
  casts.c = graph.post(2, 130, { text: "c", parent: { $case: "parentUrl", value: OTHER } });
  casts.reply = graph.reply(2, 140, casts.stranger);
  casts.old = graph.post(4, 50, { text: "old" });
  casts.gone = graph.post(4, 60, { text: "gone" });
  // Both recast `old`; 3 recasts `a` and a cast that is removed later.
  graph.recast(2, 150, casts.old);
  graph.recast(3, 160, casts.old);
  graph.recast(3, 145, casts.a);
  graph.recast(2, 155, casts.gone);
  graph.recast(4, 170, casts.b);
  graph.remove(casts.gone);
});

afterAll(() => api[Symbol.asyncDispose]());

describe("/feed/following", () => {
  test("has no replies, and each cast once, at the latest act of a followed user", async () => {
    const expected = ["old", "a", "c", "b"];
    for (const limit of [1, 2, 3, 100]) expect(await walk("/feed/following?fid=1", limit)).toEqual(expected);
    expect(await walk("/feed?feed_type=following&fid=1")).toEqual(expected);
  });

  test("excludes recasts and includes replies on request", async () => {
    expect(await walk("/feed/following?fid=1&with_recasts=false")).toEqual(["c", "b", "a"]);
    expect(await walk("/feed/following?fid=1&with_replies=true")).toEqual(["reply", "c", "b", "a"]);
  });

  test("is empty for a user without follows", async () => {
    expect(await walk("/feed/following?fid=5")).toEqual([]);
    expect(await walk("/feed/following?fid=5&with_recasts=false")).toEqual([]);
  });
});

describe("/feed with a filter", () => {
  test("by fids contains their casts without replies, and their recasts", async () => {
    expect(await walk("/feed?feed_type=filter&filter_type=fids&fids=4&with_recasts=false")).toEqual([
      "stranger",
      "old",
    ]);
    expect(await walk("/feed?feed_type=filter&filter_type=fids&fids=2,4")).toEqual([
      "b",
      "old",
      "c",
      "stranger",
      "a",
    ]);
    expect(await walk("/feed?feed_type=filter&filter_type=fids&fids=99")).toEqual([]);
  });

  test("by URL and by channel contains the casts directly there", async () => {
    const url = encodeURIComponent(OTHER);
    expect(await walk(`/feed?feed_type=filter&filter_type=parent_url&parent_url=${url}`)).toEqual(["c"]);
    expect(await walk("/feed?feed_type=filter&filter_type=channel_id&channel_id=art")).toEqual(["b"]);
  });

  test("by an embedded URL contains each cast with a matching prefix once", async () => {
    const embed = (fid: number, at: number, ...urls: string[]) =>
      graph.post(fid, at, {
        text: "look",
        embeds: urls.map((value) => ({ embed: { $case: "url" as const, value } })),
      });
    casts.both = embed(4, 300, "https://site.example/a", "https://site.example/b");
    casts.bare = embed(5, 310, "https://site.example/b");
    casts.deep = embed(3, 320, "https://site.example/a/deep");
    casts.elsewhere = embed(3, 330, "https://site.example.org/a");
    const path = "/feed?feed_type=filter&filter_type=embed_url&embed_url=";
    for (const limit of [1, 2, 100]) {
      expect(await walk(`${path}https://site.example/`, limit)).toEqual(["deep", "bare", "both"]);
      expect(await walk(`${path}site.example/a`, limit)).toEqual(["deep", "both"]);
    }
    expect(await walk(`${path}https://site.example/b`)).toEqual(["bare", "both"]);
    graph.remove(casts.bare);
    expect(await walk(`${path}https://site.example/b`)).toEqual(["both"]);
    expect(await walk(`${path}nowhere.example`)).toEqual([]);
  });

  test("reports missing parameters and unsupported filters", async () => {
    for (const [query, status, message] of [
      ["feed_type=filter", 400, "filter_type"],
      ["feed_type=filter&filter_type=fids", 400, "fids"],
      ["feed_type=filter&filter_type=channel_id", 400, "channel_id"],
      ["feed_type=filter&filter_type=parent_url", 400, "parent_url"],
      ["feed_type=filter&filter_type=embed_url", 400, "embed_url"],
      ["feed_type=filter&filter_type=embed_types", 501, "embed"],
      ["", 400, "fid"],
    ] as const) {
      const { status: input, body } = await api.get(`/v2/farcaster/feed?${query}`);
      expect({ query, status: input }).toEqual({ query, status });
      expect(body.message).toContain(message);
    }
    const trending = await api.get("/v2/farcaster/feed?feed_type=filter&filter_type=global_trending");
    expect(trending.status).toBe(200);
  });

  test("accepts at most 100 authors", async () => {
    const fids = Array.from({ length: 101 }, (_, n) => n + 1);
    const path = "/v2/farcaster/feed?feed_type=filter&filter_type=fids&fids=";
    expect((await api.get(path + fids.slice(1))).status).toBe(200);
    expect((await api.get(path + fids)).status).toBe(400);
  });
});

describe("feeds of one user", () => {
  test("casts, with replies and without, in a channel and under a URL", async () => {
    expect(await walk("/feed/user/casts?fid=2")).toEqual(["reply", "c", "a"]);
    expect(await walk("/feed/user/casts?fid=2&include_replies=false")).toEqual(["c", "a"]);
    expect(await walk(`/feed/user/casts?fid=2&parent_url=${encodeURIComponent(OTHER)}`)).toEqual(["c"]);
    expect(await walk("/feed/user/casts?fid=3&channel_id=art")).toEqual(["b"]);
    expect(await walk("/feed/user/casts?fid=2&channel_id=art")).toEqual([]);
  });

  test("replies and recasts, together and separately", async () => {
    expect(await walk("/feed/user/replies_and_recasts?fid=2", 1)).toEqual(["old", "reply"]);
    expect(await walk("/feed/user/replies_and_recasts?fid=2&filter=replies")).toEqual(["reply"]);
    expect(await walk("/feed/user/replies_and_recasts?fid=3&filter=recasts", 1)).toEqual(["old", "a"]);
  });
});

test("a cursor of another feed is 400", async () => {
  const { body } = await api.get("/v2/farcaster/feed/following?fid=1&limit=1");
  const { cursor } = body.next as { cursor: string };
  for (const path of [
    "/feed?feed_type=filter&filter_type=fids&fids=2",
    "/feed/user/casts?fid=2",
    "/feed/user/casts?fid=2&include_replies=false",
    "/feed/user/replies_and_recasts?fid=2",
  ])
    expect((await api.get(`/v2/farcaster${path}&cursor=${cursor}`)).status).toBe(400);
});

test("a feed runs a bounded number of statements whatever its size", async () => {
  const counts: number[] = [];
  for (const limit of [1, 100]) {
    api.takeStatements();
    await api.get(`/v2/farcaster/feed/following?fid=1&limit=${limit}&viewer_fid=1`);
    counts.push(api.takeStatements().length);
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(16);
});

test("an author who recasts far more than they cast has every recast and cast in the feed", async () => {
  for (const fid of [6, 7, 8]) graph.account(fid);
  graph.link(6, "follow", 7);
  const own = [1, 2, 3, 4].map((n) => graph.post(7, 200 + n, { text: `own ${n}` }));
  const others = Array.from({ length: 30 }, (_, n) => graph.post(8, 300 + n, { text: `other ${n}` }));
  others.forEach((cast, n) => {
    graph.recast(7, 400 + n, cast);
  });
  const expected = [...own, ...others].reverse().map(({ hash }) => hash);
  for (const limit of [2, 25]) expect(await walk("/feed/following?fid=6", limit)).toEqual(expected);
});
