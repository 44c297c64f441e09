import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Hash, type Posted, unixSecsAt } from "../../support/graph.ts";

interface Actor {
  readonly fid: number;
}

interface Shown {
  readonly type: string;
  readonly count: number;
  readonly cast?: { readonly hash: Hash; readonly author: Actor };
  readonly reactions?: readonly { readonly object: string; readonly user: Actor }[];
  readonly follows?: readonly { readonly user: Actor }[];
}

const iso = (at: number) => new Date(unixSecsAt(at) * 1000).toISOString();

let api: TestApi;
let graph: Graph;
let cast: Posted;
let reply: Posted;

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  graph = createGraph(api.node);
  for (const fid of [1, 2, 3, 4]) graph.account(fid);
  cast = graph.post(1, 100, { text: "mine" });
  graph.like(2, 200, cast);
  graph.recast(3, 210, cast);
  graph.like(3, 220, cast);
  graph.like(4, 10_000, cast);
  graph.recast(2, 10_010, cast);
  reply = graph.reply(2, 300, cast);
  graph.post(3, 400, { text: "hi ", mentions: [1], mentionsPositions: [3] });
  graph.link(2, "follow", 1, 500);
  graph.link(3, "follow", 1, 510);
});

afterAll(() => api[Symbol.asyncDispose]());

async function walk(query: string, limit: number): Promise<Shown[]> {
  const shown: Shown[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? "" : `&cursor=${cursor}`;
    const { status, body } = await api.get(`/v2/farcaster/notifications?fid=1&limit=${limit}${query}${more}`);
    expect(status).toBe(200);
    shown.push(...(body.notifications as Shown[]));
    ({ cursor } = body.next as { cursor: string | null });
  } while (cursor !== null);
  return shown;
}

function brief({ type, count, reactions, follows, cast }: Shown): string {
  const newest = (reactions ?? follows)?.[0]?.user ?? cast?.author;
  return `${type} ${newest?.fid} ${count}`;
}

test("likes and recasts are separate entries, with the SDK's type names and the newest actor first", async () => {
  const expected = [
    "recasts 2 1",
    "likes 4 1",
    "follows 3 2",
    "mention 3 1",
    "reply 2 1",
    "likes 3 2",
    "recasts 3 1",
  ];
  for (const limit of [1, 2, 3, 100]) expect((await walk("", limit)).map(brief)).toEqual(expected);
  const { body } = await api.get("/v2/farcaster/notifications?fid=1");
  // 5 reactions, 1 reply, 1 mention, 2 follows.
  expect(body.unseen_notifications_count).toBe(9);
  expect(body.notifications).toMatchObject([
    { object: "notification", seen: false, most_recent_timestamp: iso(10_010) },
    {},
    { follows: [{ object: "follower", user: { fid: 3 } }, { user: { fid: 2 } }] },
    { cast: { author: { fid: 3 } } },
    { cast: { hash: reply.hash } },
    {
      cast: { hash: cast.hash },
      reactions: [
        { object: "likes", user: { fid: 3 }, cast: { object: "cast_dehydrated", hash: cast.hash } },
        { object: "likes", user: { fid: 2 } },
      ],
    },
    { reactions: [{ object: "recasts", user: { fid: 3 } }] },
  ]);
});

test("types filter entries, repeated or with commas, and pages of any size concatenate", async () => {
  for (const [query, expected] of [
    ["&type=likes", ["likes 4 1", "likes 3 2"]],
    ["&type=likes&type=replies", ["likes 4 1", "reply 2 1", "likes 3 2"]],
    ["&type=mentions,replies", ["mention 3 1", "reply 2 1"]],
    ["&type=follows", ["follows 3 2"]],
    ["&type=recasts", ["recasts 2 1", "recasts 3 1"]],
    ["&type=quotes", []],
  ] as const) {
    for (const limit of [1, 2, 100]) {
      const found = (await walk(query, limit)).map(brief);
      expect({ query, limit, found }).toEqual({ query, limit, found: [...expected] });
    }
  }
  expect((await api.get("/v2/farcaster/notifications?fid=1&type=hash")).status).toBe(400);
});

test("with more open windows than a cursor holds, likes and recasts are returned once each", async () => {
  const casts = Array.from({ length: 40 }, (_, n) => graph.post(4, 20_000 + n, { text: `many ${n}` }));
  // Each has a like and a recast at the top and another of each within the same window.
  casts.forEach((each, n) => {
    graph.like(1, 21_000 + n, each);
    graph.recast(1, 21_100 + n, each);
    graph.like(2, 20_500 + n, each);
    graph.recast(2, 20_600 + n, each);
  });
  const seen = new Map<string, number>();
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? "" : `&cursor=${cursor}`;
    const { body } = await api.get(`/v2/farcaster/notifications?fid=4&limit=7${more}`);
    for (const { type, cast: shown, count } of body.notifications as Shown[]) {
      const key = `${type} ${shown?.hash}`;
      seen.set(key, (seen.get(key) ?? 0) + count);
    }
    ({ cursor } = body.next as { cursor: string | null });
  } while (cursor !== null);
  const reactions = [...seen].filter(([key]) => /^(?:likes|recasts)/.test(key));
  expect(reactions).toHaveLength(80);
  expect(new Set(reactions.map(([, count]) => count))).toEqual(new Set([2]));
});

test("a filter skips a bounded number of other rows per page, and continues after them", async () => {
  const insert = api.node.db.sqlite.prepare(
    "INSERT INTO notifications (fid, timestamp, kind, actor_fid, ref) VALUES (3, ?, 5, ?, 0)",
  );
  api.node.db.sqlite.transaction(() => {
    for (let n = 0; n < 50_000; n++) insert.run(unixSecsAt(50_000) + n, 2);
  })();
  const mine = graph.post(3, 600, { text: "far below" });
  graph.recast(2, 610, mine);
  api.takeStatements();
  const { body } = await api.get("/v2/farcaster/notifications?fid=3&type=recasts");
  expect(body.notifications).toEqual([]);
  expect(api.takeStatements().length).toBeLessThanOrEqual(20);
  const { cursor } = body.next as { cursor: string };
  const { body: next } = await api.get(`/v2/farcaster/notifications?fid=3&type=recasts&cursor=${cursor}`);
  expect((next.notifications as Shown[]).map(brief)).toEqual(["recasts 2 1"]);
  expect(next.next).toEqual({ cursor: null });
});
