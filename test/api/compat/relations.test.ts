import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Posted, unixSecsAt } from "../../support/graph.ts";
import { readAllPages } from "../../support/read-all-pages.ts";

const ART = "https://warpcast.com/~/channel/art";

let api: TestApi;
let graph: Graph;
let first: Posted;
let second: Posted;

const iso = (at: number) => new Date(unixSecsAt(at) * 1000).toISOString();

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  graph = createGraph(api.node);
  for (const fid of [1, 2, 3, 4, 5]) graph.account(fid);
  // 1 follows 2, 3 and 4; 2 and 3 follow 5; 3 is followed by more users than 2.
  for (const target of [2, 3, 4]) graph.link(1, "follow", target, target);
  for (const fid of [2, 3]) graph.link(fid, "follow", 5, 10);
  graph.link(4, "follow", 3, 11);
  graph.link(2, "follow", 1, 20);
  graph.link(3, "follow", 1, 30);
  first = graph.post(1, 100, { text: "first" });
  second = graph.post(2, 110, { text: "second", parent: { $case: "parentUrl", value: ART } });
  graph.like(2, 120, first);
  graph.recast(2, 121, first);
  graph.like(1, 122, second);
  graph.like(3, 123, first);
});

afterAll(() => api[Symbol.asyncDispose]());

const get = async (path: string) => {
  const { status, body } = await api.get(`/v2/farcaster${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  return { status, body: body as any };
};
const fidsOf = (users: readonly { fid: number }[]) => users.map(({ fid }) => fid);
const nestedFids = (items: readonly { user: { fid: number } }[]) => items.map(({ user }) => user.fid);

test("followers, followed users and mutual follows are user records, the last with their time", async () => {
  const { body } = await get("/followers?fid=1");
  expect(body.users).toMatchObject([
    { object: "follower", user: { object: "user", fid: 3 } },
    { object: "follower", user: { object: "user", fid: 2 } },
  ]);
  expect(nestedFids((await get("/following?fid=1")).body.users)).toEqual([4, 3, 2]);
  expect((await get("/followers/reciprocal?fid=1")).body.users).toMatchObject([
    { object: "reciprocal_follower", timestamp: iso(30), user: { fid: 3 } },
    { object: "reciprocal_follower", timestamp: iso(20), user: { fid: 2 } },
  ]);
  expect(Object.keys(body.users[0])).toEqual(["object", "user"]);
});

test("best friends have a score of their mutual reactions", async () => {
  const { body } = await get("/user/best_friends?fid=1");
  // 3 liked a cast of 1 without a reaction in return; 1 and 2 liked each other's casts once.
  expect(
    body.users.map(({ fid, mutual_affinity_score }: Record<string, unknown>) => [fid, mutual_affinity_score]),
  ).toEqual([
    [3, 0],
    [2, 1 / 2],
  ]);
});

test("relevant followers are those that the viewer follows, most followers first", async () => {
  for (const name of ["target_fid", "fid"]) {
    const { body } = await get(`/followers/relevant?${name}=5&viewer_fid=1`);
    expect(nestedFids(body.top_relevant_followers_hydrated)).toEqual([3, 2]);
    expect(nestedFids(body.all_relevant_followers_dehydrated)).toEqual([3, 2]);
    expect(body.all_relevant_followers_dehydrated[0]).toMatchObject({
      object: "follower_dehydrated",
      user: { object: "user_dehydrated" },
    });
  }
  expect(await get("/followers/relevant?target_fid=1&viewer_fid=5")).toMatchObject({
    body: { top_relevant_followers_hydrated: [], all_relevant_followers_dehydrated: [] },
  });
  expect((await get("/followers/relevant?target_fid=5")).body.message).toContain("viewer_fid");
  for (const name of ["id", "channel_id"]) {
    const { body } = await get(`/channel/followers/relevant?${name}=art&viewer_fid=1`);
    expect(nestedFids(body.top_relevant_followers_hydrated)).toEqual([2]);
  }
});

test("lists channel members, followers and a single member, under both parameter names", async () => {
  const { body } = await get("/channel/member/list?channel_id=art");
  expect(body.members).toMatchObject([
    { object: "member", role: "member", user: { fid: 2 }, channel: { object: "channel", id: "art" } },
  ]);
  expect(nestedFids((await get("/channel/member/list?channel_id=art&fid=2")).body.members)).toEqual([2]);
  expect((await get("/channel/member/list?channel_id=art&fid=3")).body.members).toEqual([]);
  for (const name of ["id", "channel_id"])
    expect(fidsOf((await get(`/channel/followers?${name}=art`)).body.users)).toEqual([2]);
});

describe("blocks and mutes", () => {
  test("are records with their time, for both sides of a block", async () => {
    graph.link(3, "block", 4, 40);
    graph.link(5, "block", 4, 50);
    graph.link(3, "mute", 5, 60);
    expect((await get("/block/list?blocker_fid=3")).body).toMatchObject({
      blocks: [{ object: "block", blocked: { fid: 4 }, blocked_at: iso(40) }],
    });
    expect((await get("/block/list?blocked_fid=4")).body.blocks).toMatchObject([
      { object: "block", blocker: { fid: 5 }, blocked_at: iso(50) },
      { object: "block", blocker: { fid: 3 }, blocked_at: iso(40) },
    ]);
    const walked = await readAllPages(api, "/v2/farcaster/block/list?blocked_fid=4", "blocks", 1);
    expect(walked).toMatchObject([{ blocker: { fid: 5 } }, { blocker: { fid: 3 } }]);
    expect((await get("/mute/list?fid=3")).body.mutes).toMatchObject([
      { object: "mute", muted: { fid: 5 }, muted_at: iso(60) },
    ]);
    expect((await get("/block/list")).status).toBe(400);
    expect((await get("/block/list?blocker_fid=3&blocked_fid=4")).status).toBe(400);
  });
});

describe("reactions", () => {
  const acts = (items: readonly { object: string; user: { fid: number } }[]) =>
    items.map(({ object, user }) => `${object} ${user.fid}`);

  test("on a cast are of the requested kinds, repeated or with commas, and pages of any size concatenate", async () => {
    const path = `/v2/farcaster/reactions/cast?hash=${first.hash}`;
    const expected = ["likes 3", "recasts 2", "likes 2"];
    for (const types of ["", "&types=all", "&types=likes&types=recasts", "&types=recasts,likes"]) {
      for (const limit of [1, 2, 100])
        expect(
          acts(
            await readAllPages<{ object: string; user: { fid: number } }>(
              api,
              path + types,
              "reactions",
              limit,
            ),
          ),
        ).toEqual(expected);
    }
    const { body } = await get(`/reactions/cast?hash=${first.hash}&types=recasts`);
    expect(body.reactions).toMatchObject([
      {
        object: "recasts",
        reaction_type: "recast",
        reaction_timestamp: iso(121),
        user: { object: "user", fid: 2 },
      },
    ]);
    expect((await get(`/reactions/cast?hash=${first.hash}&types=loves`)).status).toBe(400);
  });

  test("of one user in one second have a stable order, each once, wherever a page ends", async () => {
    const cast = graph.post(5, 700, { text: "busy second" });
    for (const fid of [1, 2, 3]) {
      graph.like(fid, 710, cast);
      graph.recast(fid, 710, cast);
    }
    const path = `/v2/farcaster/reactions/cast?hash=${cast.hash}`;
    const whole = await readAllPages<{ object: string; user: { fid: number } }>(api, path, "reactions", 100);
    expect(new Set(acts(whole)).size).toBe(6);
    for (const limit of [1, 2, 3, 4, 5])
      expect(
        acts(await readAllPages<{ object: string; user: { fid: number } }>(api, path, "reactions", limit)),
      ).toEqual(acts(whole));
  });

  test("of a user contain complete casts", async () => {
    const { body } = await get("/reactions/user?fid=2&type=all");
    expect(acts(body.reactions)).toEqual(expect.arrayContaining(["recasts 2", "likes 2"]));
    expect(body.reactions.at(-1)).toMatchObject({
      user: { object: "user_dehydrated", fid: 2 },
      cast: { object: "cast", hash: first.hash, author: { object: "user" } },
    });
    const walked = await readAllPages(api, "/v2/farcaster/reactions/user?fid=2&type=all", "reactions", 1);
    expect(walked).toEqual(body.reactions);
  });
});

describe("/user/interactions", () => {
  interface Act {
    readonly type: string;
    readonly cast?: { readonly author: { readonly fid: number } };
    readonly reactions?: readonly { readonly user: { readonly fid: number } }[];
    readonly follows?: readonly { readonly user: { readonly fid: number } }[];
  }
  const typesOf = (acts: readonly Act[]) =>
    acts.map(({ type, reactions, follows, cast }) => {
      const actor = (reactions ?? follows)?.[0]?.user ?? cast?.author;
      return `${actor?.fid} ${type}`;
    });

  test("of two users are their mutual acts of the requested types, newest first", async () => {
    const reply = graph.reply(4, 500, graph.post(5, 490, { text: "q" }));
    graph.quote(5, 510, reply);
    graph.post(4, 520, { text: "hi ", mentions: [5], mentionsPositions: [3] });
    graph.like(5, 530, reply);
    graph.link(4, "follow", 5, 540);
    const { body } = await get("/user/interactions?fids=4,5");
    expect(typesOf(body.interactions)).toEqual(["4 follows", "5 likes", "4 mention", "5 quote", "4 reply"]);
    expect(body.interactions[1]).toMatchObject({
      object: "notification",
      most_recent_timestamp: iso(530),
      cast: { hash: reply.hash },
      reactions: [{ object: "likes", user: { fid: 5 }, cast: { object: "cast_dehydrated" } }],
    });
    const some = await get("/user/interactions?fids=5,4&type=likes&type=replies");
    expect(typesOf(some.body.interactions)).toEqual(["5 likes", "4 reply"]);
    expect((await get("/user/interactions?fids=98,99")).body.interactions).toEqual([]);
  });

  test("of one user with another are numbers, as under the native prefix", async () => {
    const { body } = await api.get("/user/interactions?fid=2&target_fid=1");
    expect((await get("/user/interactions?fid=2&target_fid=1")).body).toEqual(body);
    for (const query of ["", "fids=1", "fids=1,1", "fids=1,2,3"])
      expect((await get(`/user/interactions?${query}`)).status).toBe(400);
  });
});
