import { afterAll, beforeAll, expect, test } from "bun:test";
import { createGraph, type Graph, type Posted } from "../../support/graph.ts";
import { startSignedApi } from "../../support/signed-api.ts";

/** Owners 1 and 2 have keys; 3 to 6 are people. */
const signed = await startSignedApi({ compatPrefixes: ["farcaster"], fids: [1, 2] });
const base = `${signed.api.url}/v2/farcaster`;
const keys = new Map<number, string>();
let graph: Graph;
let root: Posted;

/** What these tests look at in responses. */
interface Body {
  readonly casts: readonly { readonly author: { readonly fid: number } }[];
  readonly mutes: readonly { readonly muted: { readonly fid: number } }[];
  readonly bans: readonly { readonly object: string; readonly banned: { readonly fid: number } }[];
  readonly next: { readonly cursor: string | null };
  readonly users: readonly object[];
  readonly conversation: { readonly cast: { readonly direct_replies: readonly object[] } };
}

async function keyOf(fid: number): Promise<string> {
  const { body } = await signed.call({
    method: "POST",
    path: "/api_key",
    body: { name: "app", scopes: ["read", "moderate"] },
    fid,
  });
  return String(body.secret);
}

const headersOf = (owner: number | undefined): Record<string, string> =>
  owner === undefined ? {} : { "x-api-key": keys.get(owner) ?? "" };
const get = async (path: string, owner?: number) => {
  const response = await fetch(`${base}${path}`, { headers: headersOf(owner) });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
};
const send = async (method: string, path: string, body: object, owner: number) => {
  const headers = { ...headersOf(owner), "content-type": "application/json" };
  const response = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
};
const FEED = "/feed/?feed_type=filter&filter_type=fids&fids=3,4,5,6&with_recasts=false";
const authorsIn = async (path: string, owner?: number): Promise<number[]> => {
  const { status, body } = await get(path, owner);
  expect(status).toBe(200);
  return body.casts.map(({ author }) => author.fid);
};

beforeAll(async () => {
  graph = createGraph(signed.api.node);
  for (const fid of [3, 4, 5, 6, 7]) graph.account(fid);
  root = graph.post(3, 10, { text: "one" });
  graph.post(4, 20, { text: "two" });
  graph.post(5, 30, { text: "three" });
  graph.reply(6, 40, root);
  graph.link(4, "mute", 6);
  for (const fid of [1, 2]) keys.set(fid, await keyOf(fid));
});
afterAll(() => signed[Symbol.asyncDispose]());

test("a ban hides a user from lists under keys of its owner only, at once, and is lifted at once", async () => {
  for (const owner of [1, 2, undefined]) expect(await authorsIn(FEED, owner)).toEqual([5, 4, 3]);
  expect(await send("POST", "/ban/", { fids: [4] }, 1)).toEqual({
    status: 200,
    body: { success: true, message: null },
  });
  // The same URL in turns: a response under the key of one owner is never another's.
  for (let round = 0; round < 30; round++) {
    expect(await authorsIn(FEED, 1)).toEqual([5, 3]);
    expect(await authorsIn(FEED, 2)).toEqual([5, 4, 3]);
    expect(await authorsIn(FEED)).toEqual([5, 4, 3]);
  }
  expect((await get(FEED, 1)).headers.get("cache-control")).toBe("no-store");
  expect((await get(FEED, 2)).headers.get("cache-control")).not.toBe("no-store");
  expect(await authorsIn("/feed/user/casts?fid=4", 1)).toEqual([]);
  expect((await get("/user/bulk?fids=4", 1)).body.users).toHaveLength(1);
  expect(await send("POST", "/ban", { fids: [3] }, 1)).toMatchObject({ status: 200 });
  // The reply of 6 is to a banned user.
  expect(await authorsIn("/feed/user/casts?fid=6", 1)).toEqual([]);
  const conversation = await get(`/cast/conversation?identifier=${root.hash}&type=hash`, 1);
  expect(conversation.body.conversation.cast.direct_replies).toEqual([]);
  expect(await send("DELETE", "/ban/", { fids: [3, 4] }, 1)).toMatchObject({ status: 200 });
  expect(await authorsIn(FEED, 1)).toEqual([5, 4, 3]);
});

test("check 3: a URL requested a thousand times by alternating owners under commits never returns another owner's response, and without a key no list counts", async () => {
  await send("POST", "/ban/", { fids: [4] }, 1);
  await send("POST", "/ban/", { fids: [5] }, 2);
  const bannedBy = new Map<number | undefined, number>([
    [1, 4],
    [2, 5],
  ]);
  for (let round = 0; round < 1_000; round++) {
    if (round % 20 === 0) graph.post(7, 1_000 + round, { text: `${round}` });
    const owner = [1, 2, undefined][round % 3];
    const authors = new Set(await authorsIn(`${FEED}&limit=100&viewer_fid=7`, owner));
    const hidden = bannedBy.get(owner);
    for (const fid of [4, 5]) expect(authors.has(fid)).toBe(fid !== hidden);
  }
  await send("DELETE", "/ban/", { fids: [4] }, 1);
  await send("DELETE", "/ban/", { fids: [5] }, 2);
}, 60_000);

test("the list of bans is its owner's, newest first, in pages", async () => {
  const fids = [3, 5, 6];
  await send("POST", "/ban", { fids }, 2);
  const found: number[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body } = await get(`/ban/list/?limit=1${cursor === "" ? "" : `&cursor=${cursor}`}`, 2);
    expect(body.bans).toHaveLength(1);
    expect(body.bans[0]).toMatchObject({ object: "ban", banned: { object: "user" } });
    found.push(body.bans[0]?.banned.fid ?? 0);
    ({ cursor } = body.next);
  }
  expect(found).toEqual([6, 5, 3]);
  for (const owner of [1, undefined])
    expect((await get("/ban/list", owner)).body as unknown).toEqual({ bans: [], next: { cursor: null } });
  await send("DELETE", "/ban", { fids }, 2);
});

test("a private mute counts for one user under one owner's keys, and is in the user's list there", async () => {
  const viewed = `${FEED}&viewer_fid=6`;
  const mute = { fid: 6, muted_fid: 5 };
  expect(await send("POST", "/mute/", mute, 1)).toMatchObject({
    status: 200,
    body: { success: true, message: "the user is muted in private" },
  });
  const seen = (await get("/user/bulk?fids=5&viewer_fid=6", 1)).body.users[0];
  expect(seen).toMatchObject({ viewer_context: { muting: true, banned: false, blocking: false } });
  expect(await authorsIn(viewed, 1)).toEqual([4, 3]);
  expect(await authorsIn(FEED, 1)).toEqual([5, 4, 3]);
  expect(await authorsIn(viewed, 2)).toEqual([5, 4, 3]);
  expect(await authorsIn(viewed)).toEqual([5, 4, 3]);
  const mutedIn = async (fid: number, owner?: number) =>
    (await get(`/mute/list?fid=${fid}`, owner)).body.mutes.map(({ muted }) => muted.fid);
  expect(await mutedIn(6, 1)).toEqual([5]);
  expect(await mutedIn(6, 2)).toEqual([]);
  expect(await mutedIn(6)).toEqual([]);
  // 4 mutes 6 in public, and then in private too: once in the list.
  await send("POST", "/mute", { fid: 4, muted_fid: 6 }, 1);
  await send("POST", "/mute", { fid: 4, muted_fid: 3 }, 1);
  expect([...(await mutedIn(4, 1))].sort()).toEqual([3, 6]);
  expect(await mutedIn(4)).toEqual([6]);
  expect(await send("DELETE", "/mute/", mute, 1)).toMatchObject({ status: 200 });
  expect(await authorsIn(viewed, 1)).toEqual([5, 4, 3]);
});

test("bad lists of fids are 400 naming the field, and a key without the scope is 403", async () => {
  for (const [body, text] of [
    [{}, "fids"],
    [{ fids: [] }, "fids"],
    [{ fids: [3, 3] }, "fids must be distinct"],
    [{ fids: ["3"] }, "every entry of fids must be an fid"],
    [{ fids: [1] }, "fids must not contain the owner"],
    [{ fids: Array.from({ length: 1001 }, (_, at) => at + 10) }, "fids"],
  ] as const) {
    const refusal = await send("POST", "/ban", body, 1);
    expect(refusal).toMatchObject({ status: 400, body: { message: expect.stringContaining(text) } });
  }
  expect((await send("POST", "/mute", { fid: 3, muted_fid: 3 }, 1)).status).toBe(400);
  const { body } = await signed.call({
    method: "POST",
    path: "/api_key",
    body: { name: "reader", scopes: ["read", "write"] },
    fid: 1,
  });
  keys.set(0, String(body.secret));
  expect((await send("POST", "/ban", { fids: [4] }, 0)).status).toBe(403);
  keys.set(0, "");
  expect((await send("POST", "/ban", { fids: [4] }, 0)).status).toBe(401);
});

test("a quote of a banned user is empty under the app's keys, with and without a viewer, and nowhere else", async () => {
  const quote = graph.quote(7, 50, root);
  await send("POST", "/ban", { fids: [3] }, 1);
  const embedOf = async (path: string, owner?: number) => {
    const { body } = await get(path, owner);
    return (body as unknown as { cast: { embeds: readonly { cast: object }[] } }).cast.embeds[0]?.cast;
  };
  const path = `/cast?identifier=${quote.hash}&type=hash`;
  for (const one of [path, `${path}&viewer_fid=6`])
    expect(await embedOf(one, 1)).toMatchObject({
      hash: root.hash,
      text: "",
      author: { object: "user_dehydrated", fid: 3 },
      hidden: "banned",
    });
  for (const owner of [2, undefined]) expect(await embedOf(path, owner)).toMatchObject({ text: "one" });
  const { users } = (await get("/user/bulk?fids=3&viewer_fid=6", 1)).body;
  expect(users[0]).toMatchObject({ viewer_context: { banned: true } });
  await send("DELETE", "/ban", { fids: [3] }, 1);
  expect(await embedOf(path, 1)).toMatchObject({ text: "one" });
});

test("an owner bans by signed requests, which reads under the owner's keys follow at once, and the audit log names them", async () => {
  const path = "/moderation/bans";
  const change = (method: "POST" | "DELETE", fids: readonly number[]) =>
    signed.call({ method, path, body: { fids }, fid: 1 });
  expect(await change("POST", [5, 4])).toEqual({ status: 200, body: { changed: 2 } });
  expect(await authorsIn(FEED, 1)).toEqual([3]);
  const first = await signed.call({ method: "GET", path: `${path}?limit=1`, fid: 1 });
  expect(first.body.bans).toMatchObject([{ fid: 5 }]);
  const { cursor } = first.body.next;
  const second = await signed.call({
    method: "GET",
    path: `${path}?limit=1&cursor=${cursor}`,
    op: "ban.read",
    fid: 1,
  });
  expect(second.body).toMatchObject({ bans: [{ fid: 4 }], next: { cursor: null } });
  expect((await signed.call({ method: "GET", path, fid: 2 })).body.bans).toEqual([]);
  expect(await change("DELETE", [5, 4, 77])).toEqual({ status: 200, body: { changed: 3 } });
  expect(await authorsIn(FEED, 1)).toEqual([5, 4, 3]);
  expect((await change("POST", [1])).status).toBe(400);
  const { body } = await signed.call({ method: "GET", path: "/audit?limit=100", fid: 1 });
  const actions = body.entries.map(({ action, fid }: { action: string; fid: number }) => `${action} ${fid}`);
  expect(actions).toContain("ban.add 5");
  expect(actions).toContain("ban.remove 77");
  // A mute names the muting user, never the muted one.
  expect(actions.filter((one: string) => one.startsWith("mute."))).toEqual(
    expect.arrayContaining(["mute.add 6", "mute.add 4", "mute.remove 6"]),
  );
  expect(actions.filter((one: string) => /^mute\.\w+ (5|3)$/.test(one))).toEqual([]);
});
