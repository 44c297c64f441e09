import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Posted } from "../../support/graph.ts";

const CHANNEL = "https://farcaster.xyz/~/channel/art";

let api: TestApi;
let graph: Graph;
let liked: Posted;
let plain: Posted;

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  graph = createGraph(api.node);
  for (const fid of [1, 2, 3, 4]) graph.account(fid);
  graph.link(1, "follow", 2);
  graph.link(2, "follow", 1);
  graph.link(3, "follow", 1);
  graph.link(1, "block", 3);
  graph.link(4, "block", 1);
  liked = graph.post(2, 10, { text: "one", parent: { $case: "parentUrl", value: CHANNEL } });
  plain = graph.post(3, 20, { text: "two" });
  graph.post(1, 30, { text: "own", parent: { $case: "parentUrl", value: CHANNEL } });
  graph.like(1, 40, liked);
  graph.recast(1, 41, plain);
});

afterAll(() => api[Symbol.asyncDispose]());

test("users contain the viewer's relation in both directions", async () => {
  const { body } = await api.get("/v2/farcaster/user/bulk?fids=1,2,3,4&viewer_fid=1");
  const contexts = (body.users as { viewer_context: unknown }[]).map((user) => user.viewer_context);
  const none = {
    ...{ following: false, followed_by: false, blocking: false, blocked_by: false },
    ...{ muting: false, banned: false },
  };
  expect(contexts).toEqual([
    none,
    { ...none, following: true, followed_by: true },
    { ...none, followed_by: true, blocking: true },
    { ...none, blocked_by: true },
  ]);
});

test("casts contain the viewer's reactions and relations to their authors and channels", async () => {
  const { body } = await api.get(`/v2/farcaster/casts?casts=${liked.hash},${plain.hash}&viewer_fid=1`);
  expect((body.result as { casts: unknown }).casts).toMatchObject([
    {
      viewer_context: { liked: true, recasted: false },
      author: { viewer_context: { following: true } },
      channel: { id: "art", viewer_context: { following: true, role: "member" } },
    },
    {
      viewer_context: { liked: false, recasted: true },
      author: { viewer_context: { following: false, blocking: true } },
    },
  ]);
  const { body: channel } = await api.get("/v2/farcaster/channel?id=art&viewer_fid=3");
  expect(channel).toMatchObject({ channel: { viewer_context: { following: false } } });
});

test("without a viewer there is no context, and an unknown viewer has no relations", async () => {
  const { body } = await api.get(`/v2/farcaster/cast?identifier=${liked.hash}&type=hash`);
  expect(JSON.stringify(body)).not.toContain("viewer_context");
  const { body: strangers } = await api.get(
    `/v2/farcaster/cast?identifier=${liked.hash}&viewer_fid=${2n ** 60n}`,
  );
  expect(strangers).toMatchObject({
    cast: {
      viewer_context: { liked: false, recasted: false },
      author: { viewer_context: { following: false, followed_by: false } },
    },
  });
});

test("contexts run one statement per kind for any number of objects", async () => {
  const statements = async (path: string) => {
    api.takeStatements();
    await api.get(path);
    return api.takeStatements().filter((name) => name.startsWith("hydrate.viewer."));
  };
  const kinds = ["hydrate.viewer.channels", "hydrate.viewer.users", "hydrate.viewer.casts"];
  for (const hashes of [[liked.hash], [liked.hash, plain.hash]])
    expect(await statements(`/v2/farcaster/casts?casts=${hashes}&viewer_fid=1`)).toEqual(kinds);
  expect(await statements("/v2/farcaster/user/bulk?fids=1,2,3,4&viewer_fid=1")).toEqual([
    "hydrate.viewer.users",
  ]);
  expect(await statements("/v2/farcaster/user/bulk?fids=1,2,3,4")).toEqual([]);
});
