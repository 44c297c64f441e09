import { afterAll, expect, test } from "bun:test";
import { startTestApi } from "../../support/api.ts";
import { demoIndex } from "../../support/demo-index.ts";

/** In the demo network 16 blocks 60. Every read shows 60 to a reader without a viewer, and to neither of the two the other. */
const BLOCKER = 16;
const BLOCKED = 60;

const api = await startTestApi({ compatPrefixes: ["farcaster"], index: await demoIndex() });
afterAll(() => api[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: the test reads a few fields of many responses.
async function get(path: string): Promise<any> {
  const response = await fetch(`${api.url}/v2/farcaster${path}`);
  expect([path, response.status]).toEqual([path, 200]);
  return response.json();
}

/** Whether a page of a list shows casts, reactions, follows or the profile of a user. Parents and mentions name fids without showing a user. */
async function shows(list: string, wanted: number, cursor?: string): Promise<boolean> {
  const page = await get(cursor === undefined ? list : `${list}&cursor=${encodeURIComponent(cursor)}`);
  let found = false;
  JSON.stringify(page, (_, part) => {
    const { object, fid } = part ?? {};
    found ||= (object === "user" || object === "user_dehydrated") && fid === wanted;
    return part;
  });
  const next = page.next?.cursor ?? page.result?.next?.cursor;
  return found || (typeof next === "string" && shows(list, wanted, next));
}

/** A read of each list that shows something of `fid`. */
async function readsOf(fid: number): Promise<string[]> {
  const { casts } = await get(`/feed/user/casts?fid=${fid}&limit=50&include_replies=true`);
  const reply = casts.find((cast: { parent_hash: string | null }) => cast.parent_hash !== null);
  const inChannel = casts.find(
    (cast: { channel: object | null; parent_hash: string | null }) =>
      cast.channel !== null && cast.parent_hash === null,
  );
  const liked = (await get(`/reactions/user?fid=${fid}&type=likes&limit=1`)).reactions[0].cast;
  const followed = (await get(`/following?fid=${fid}&limit=1`)).users[0].user;
  const follower = (await get(`/followers?fid=${fid}&limit=1`)).users[0].user;
  const { display_name: name } = (await get(`/user/bulk?fids=${fid}`)).users[0];
  return [
    `/feed?feed_type=filter&filter_type=fids&fids=${fid}`,
    `/feed/user/casts?fid=${fid}`,
    `/feed/user/popular?fid=${fid}`,
    `/feed/user/replies_and_recasts?fid=${fid}&filter=replies`,
    `/feed/channels?channel_ids=${inChannel.channel.id}&limit=100`,
    `/cast/search?q=${encodeURIComponent(inChannel.text.split(" ").slice(0, 4).join(" "))}`,
    `/user/search?q=${encodeURIComponent(name.split(" ")[0])}&limit=10`,
    `/cast/conversation?identifier=${reply.parent_hash}&type=hash&reply_depth=5&limit=50`,
    `/reactions/cast?hash=${liked.hash}&types=likes&limit=100`,
    `/followers?fid=${followed.fid}&limit=100`,
    `/following?fid=${follower.fid}&limit=100`,
  ];
}

test.each([
  [BLOCKED, BLOCKER],
  [BLOCKER, BLOCKED],
])("no list shows %d to the viewer %d", async (fid, viewer) => {
  for (const path of await readsOf(fid)) {
    expect([path, await shows(path, fid)]).toEqual([path, true]);
    expect([path, await shows(`${path}&viewer_fid=${viewer}`, fid)]).toEqual([path, false]);
  }
});

test("a search for the exact name of a blocked user finds them", async () => {
  const { username } = (await get(`/user/bulk?fids=${BLOCKED}`)).users[0];
  expect(await shows(`/user/search?q=${username}&viewer_fid=${BLOCKER}`, BLOCKED)).toBe(true);
});
