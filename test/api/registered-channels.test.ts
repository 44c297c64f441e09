import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { followedFromPosition, HISTORY_DONE } from "../../src/db/index/channels/history.ts";
import { type PositionUpdate, putPosition } from "../../src/db/index/positions.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { CastingMode, MessageType } from "../../src/protocol/wire/generated/message.ts";
import {
  ChannelRegisterEventType,
  OnChainEvent,
  OnChainEventType,
} from "../../src/protocol/wire/generated/on-chain.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import {
  Action,
  activateChannels,
  acts,
  disownsWallet,
  follows,
  moderates,
  ownsWallet,
  pins,
  registers,
  updates,
  uriOf,
  walletOf,
} from "../support/channel-records.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { hashBytes, likeUrl, signed } from "../support/records.ts";

/** Fids: 1 owns, 2 moderates, 3 to 6 are members, 7 is banned, 8 and 9 are strangers, 10 owns a parked channel. */
const FIDS = Array.from({ length: 12 }, (_, at) => at + 1);
const KEY = "books";
const URL_OF_KEY = `https://farcaster.xyz/~/channel/${KEY}`;
const ODD_KEYS = ["a/b", "https://x", "🎹".repeat(63), "Books", "white space", `0x${"ab".repeat(32)}`];

/** Keys that no name or URL can be taken for. */
const PLAIN_KEYS = new Set(["Books", "🎹".repeat(63)]);

let api: TestApi;
let serial = 0;
let at = DEFAULT_TIMESTAMP;

function cast(fid: number, parentUrl: string): Uint8Array {
  at += 1;
  const record = signed(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      body: {
        $case: "castAddBody",
        value: { text: `cast ${serial++}`, parent: { $case: "parentUrl", value: parentUrl } },
      },
    },
    at,
  );
  expect(api.node.ingest(record)).toBe("ok");
  return hashBytes(record);
}

function ingest(...records: Parameters<typeof api.node.ingestAll>[0]): void {
  expect(api.node.ingestAll(records)).toEqual(records.map(() => "ok"));
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
type Body = any;

async function get(path: string): Promise<Body> {
  const response = await fetch(`${api.url}/v2/${path}`);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return response.json();
}

/** Reads all pages of a list. A page before the last is full. */
async function pages<T>(path: string, key: string, limit: number): Promise<T[]> {
  const items: T[] = [];
  for (let cursor = ""; ; ) {
    const body = await get(`${path}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
    items.push(...body[key]);
    cursor = body.next.cursor ?? "";
    if (cursor === "") return items;
    expect(body[key]).toHaveLength(limit);
  }
}

const compat = (path: string) => get(`farcaster/${path}`);
const texts = async (path: string) => ((await get(path)).casts as Body[]).map(({ text }) => text);

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  activateChannels(api.node.db);
  for (const fid of FIDS) api.node.ingestAll(accountRecords(fid));
  ingest(ownsWallet(1), ownsWallet(10), registers(KEY, walletOf(1)), registers("parked", walletOf(99)));
  ingest(registers("plain", walletOf(10)));
  ingest(updates(1, KEY, { name: "Literature", castingMode: CastingMode.CASTING_MODE_EVERYONE }));
  ingest(acts(1, KEY, Action.addModerator, 2, at + 10));
  ingest(...[3, 4, 5, 6].map((fid) => acts(2, KEY, Action.addMember, fid, at + 20 + (fid % 2))));
  ingest(acts(2, KEY, Action.ban, 7, at + 30));
  ingest(...[3, 8, 9].map((fid) => follows(fid, KEY)), follows(8, "plain"));
});
afterAll(() => api[Symbol.asyncDispose]());

describe("check 28: a registered channel", () => {
  test("has what its settings, slots and follows say, under each of its names", async () => {
    const { channel } = await get(`svc/channel?id=${KEY}`);
    expect(channel).toMatchObject({
      id: KEY,
      name: "Literature",
      description: null,
      lead: { fid: 1 },
      moderator_fids: [2],
      member_count: 5,
      follower_count: 3,
      source: "protocol",
      channel_id: `0x${channelIdOfKey(KEY).toHex()}`,
      owner: { fid: 1, state: "verified" },
      lapsed: false,
      casting_mode: "everyone",
      membership_mode: "approval",
      created_at: 1_700_000_000,
    });
    for (const name of [URL_OF_KEY, uriOf(KEY), `0x${channelIdOfKey(KEY).toHex()}`])
      expect((await get(`svc/channel?id=${encodeURIComponent(name)}`)).channel).toEqual(channel);
  });

  test("that is parked has no lead, and its owner's address waits for a verification", async () => {
    const { channel } = await compat("channel?id=parked");
    expect(channel).not.toHaveProperty("lead");
    expect(channel).toMatchObject({
      hosts: [],
      owner: { address: `0x${walletOf(99).toHex()}`, fid: null, state: "unverified" },
    });
  });

  test("is listed and found without a cast", async () => {
    const { channels } = await get("svc/channel/all?limit=100");
    expect((channels as Body[]).map(({ id }) => id)).toEqual(
      expect.arrayContaining([KEY, "parked", "plain"]),
    );
    expect((await compat("channel/search?q=liter")).channels.map(({ id }: Body) => id)).toEqual([KEY]);
    expect((await compat("channel/bulk?ids=plain,parked,none")).channels).toHaveLength(2);
  });

  test("check 8: parks when its owner removes the verification, and unparks with the next one", async () => {
    const leadOf = async () => (await get("svc/channel?id=plain")).channel.lead?.fid ?? null;
    expect(await leadOf()).toBe(10);
    ingest(disownsWallet(10, at + 1));
    expect(await leadOf()).toBeNull();
    ingest(ownsWallet(10, at + 2));
    expect(await leadOf()).toBe(10);
  });
});

test("check 32: a key that could be another channel's name or a URL is addressed by its id in hex", async () => {
  ingest(...ODD_KEYS.map((key) => registers(key, walletOf(10))));
  for (const key of ODD_KEYS) {
    const hex = `0x${channelIdOfKey(key).toHex()}`;
    const { channel } = await get(`svc/channel?id=${hex}`);
    expect(channel).toMatchObject({ name: key, channel_id: hex, id: PLAIN_KEYS.has(key) ? key : hex });
  }
  expect((await get("svc/channel?id=Books")).channel.name).toBe("Books");
  expect((await get("svc/channel?id=books")).channel.name).toBe("Literature");
  const ids = await pages<{ id: string }>("svc/channel/all?", "channels", 2);
  expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
});

describe("lists of a registered channel", () => {
  const rolesOf = (rows: Body[]) => rows.map(({ role, user }) => [role, user.fid]);
  const ROLES = [
    ["owner", 1],
    ["member", 5],
    ["member", 3],
    ["member", 6],
    ["member", 4],
    ["moderator", 2],
  ];

  test.each([1, 2, 5, 100])("members by %i are the owner first, then by the last change", async (limit) => {
    expect(rolesOf(await pages(`farcaster/channel/member/list?channel_id=${KEY}`, "members", limit))).toEqual(
      ROLES,
    );
    expect(rolesOf(await pages(`svc/channel/roles?id=${KEY}`, "members", limit))).toEqual(ROLES);
  });

  test("members of one fid are that member, or none", async () => {
    const of = async (fid: number) =>
      rolesOf((await compat(`channel/member/list?channel_id=${KEY}&fid=${fid}`)).members);
    expect([await of(1), await of(2), await of(4), await of(7), await of(8)]).toEqual([
      [["owner", 1]],
      [["moderator", 2]],
      [["member", 4]],
      [],
      [],
    ]);
  });

  test("followers are those who like the token's URI, newest first, and as many as are counted", async () => {
    const fids = async (limit: number) =>
      (await pages<Body>(`farcaster/channel/followers?id=${KEY}`, "users", limit)).map(({ fid }) => fid);
    expect(await fids(1)).toEqual([9, 8, 3]);
    expect(await fids(100)).toHaveLength((await get(`svc/channel?id=${KEY}`)).channel.follower_count);
    expect((await compat("user/channels?fid=8")).channels.map(({ id }: Body) => id).toSorted()).toEqual([
      KEY,
      "plain",
    ]);
  });

  test("check 18: another spelling of the URI is a like and no follow", async () => {
    const wrong = [uriOf(KEY).toLowerCase(), uriOf(KEY).replace("11155111", "1"), `${uriOf(KEY)}0`];
    ingest(...wrong.map((url) => likeUrl(11, url)));
    expect((await get(`svc/channel?id=${KEY}`)).channel.follower_count).toBe(3);
    expect((await get("svc/user/channel/follows?fid=11")).channels).toEqual([]);
  });

  test.each([1, 2, 100])("roles of a user by %i are the channels it owns, then the others", async (limit) => {
    const rows = await pages<Body>("farcaster/user/memberships/list?fid=10", "members", limit);
    expect(rows.every(({ role }) => role === "owner")).toBe(true);
    expect(new Set(rows.map(({ channel }) => channel.id)).size).toBe(1 + ODD_KEYS.length);
    const ofMember = await pages<Body>("farcaster/user/memberships/list?fid=4", "members", limit);
    expect(ofMember.map(({ role, channel }) => [role, channel.id])).toEqual([["member", KEY]]);
  });

  test("a viewer sees what it is, and a cast what its author is", async () => {
    cast(4, URL_OF_KEY);
    const context = async (fid: number) =>
      (await compat(`channel?id=${KEY}&viewer_fid=${fid}`)).channel.viewer_context;
    expect(await Promise.all([1, 2, 3, 8, 7].map(context))).toEqual([
      { following: false, role: "owner" },
      { following: false, role: "moderator" },
      { following: true, role: "member" },
      { following: true },
      { following: false },
    ]);
    const { casts } = await compat(`feed/channels?channel_ids=${KEY}&limit=1`);
    expect(casts[0]).toMatchObject({
      author: { fid: 4 },
      author_channel_context: { following: false, role: "member" },
      channel: { id: KEY, name: "Literature" },
    });
  });

  test("a list of a channel that is not registered is 404 or that of its casts", async () => {
    cast(8, "https://farcaster.xyz/~/channel/gravel");
    expect((await fetch(`${api.url}/v2/svc/channel/roles?id=gravel`)).status).toBe(404);
    const { members } = await compat("channel/member/list?channel_id=gravel");
    expect(rolesOf(members)).toEqual([["member", 8]]);
  });

  test("a cursor of the other kind of list stays in its list, and a foreign one is refused", async () => {
    const { cursor } = (await get(`svc/channel/members?channel_id=${KEY}&limit=1`)).next;
    if (cursor !== null) await compat(`channel/member/list?channel_id=${KEY}&cursor=${cursor}`);
    const roles = (await get(`svc/channel/roles?id=${KEY}&limit=1`)).next.cursor;
    expect((await fetch(`${api.url}/v2/farcaster/channel/followers?id=${KEY}&cursor=${roles}`)).status).toBe(
      400,
    );
  });
});

describe("check 15: casts in a registered channel", () => {
  test("that are hidden, or of banned users, are in no list of the channel, until they are shown again", async () => {
    const [shown, hidden, banned] = [cast(8, URL_OF_KEY), cast(9, URL_OF_KEY), cast(7, URL_OF_KEY)].map(
      (hash) => `0x${hash.toHex()}`,
    );
    const target = Uint8Array.fromHex(hidden?.slice(2) ?? "");
    const byUri = cast(6, uriOf(KEY));
    ingest(moderates(2, KEY, target, true, at));
    const hashes = async (path: string) =>
      new Set(((await get(path)).casts as Body[]).map(({ hash }) => hash));
    const feeds = [
      `farcaster/feed/channels?channel_ids=${KEY}`,
      `farcaster/feed?feed_type=filter&filter_type=channel_id&channel_id=${KEY}`,
      `svc/channel/feed?id=${KEY}`,
    ];
    for (const path of feeds) {
      const found = await hashes(path);
      expect([shown, hidden, banned].map((hash) => found.has(hash))).toEqual([true, false, false]);
      expect(found.has(`0x${byUri.toHex()}`)).toBe(true);
    }
    for (const path of [
      `svc/channel/feed?id=${KEY}&with_hidden=true`,
      `svc/feed/channels?channel_ids=${KEY}`,
    ]) {
      const found = await hashes(path);
      expect([shown, hidden, banned].map((hash) => found.has(hash))).toEqual([true, true, true]);
    }
    // Other feeds are unchanged.
    expect(await hashes("farcaster/feed/user/casts?fid=9")).toContain(hidden);
    expect(await hashes(`farcaster/feed/user/casts?fid=9&channel_id=${KEY}`)).not.toContain(hidden);
    const search = (await compat(`cast/search?q=cast&channel_id=${KEY}&limit=100`)).result.casts as Body[];
    expect(search.map(({ hash }) => hash)).not.toContain(hidden);
    expect((await get(`svc/channel/moderations?id=${KEY}`)).moderations).toMatchObject([
      { cast_hash: hidden, state: "hidden", moderated_by: { fid: 2 } },
    ]);
    expect((await get(`svc/channel/bans?id=${KEY}`)).bans).toMatchObject([
      { user: { fid: 7 }, banned_by: { fid: 2 } },
    ]);
    ingest(moderates(1, KEY, target, false, at));
    expect(await hashes(feeds[0] ?? "")).toContain(hidden);
  });

  test("pages are full, and concatenate to the list without what is hidden, whatever their size", async () => {
    for (let n = 0; n < 60; n++) cast(n % 3 === 0 ? 8 : 7, URL_OF_KEY);
    const visible = (await pages<Body>(`svc/channel/feed?id=${KEY}`, "casts", 100)).map(({ hash }) => hash);
    const all = (await pages<Body>(`svc/feed/channels?channel_ids=${KEY}`, "casts", 100)) as Body[];
    expect(visible).toEqual(all.filter(({ author }) => author.fid !== 7).map(({ hash }) => hash));
    for (const limit of [1, 3, 7]) {
      const walked = await pages<Body>(`farcaster/feed/channels?channel_ids=${KEY}`, "casts", limit);
      expect(walked.map(({ hash }) => hash)).toEqual(visible);
    }
  });

  test("check 16: members_only is about who is a member now, and a channel without settings shows all", async () => {
    cast(8, "https://farcaster.xyz/~/channel/plain");
    expect(await texts("farcaster/feed/channels?channel_ids=plain")).toHaveLength(1);
    const path = `farcaster/feed/channels?channel_ids=${KEY}&members_only=true&limit=100`;
    const authors = async () => new Set(((await get(path)).casts as Body[]).map(({ author }) => author.fid));
    cast(3, URL_OF_KEY);
    expect(await authors()).toEqual(new Set([3, 4, 6]));
    ingest(acts(3, KEY, Action.removeMember, 3, at));
    expect(await authors()).toEqual(new Set([4, 6]));
    ingest(updates(1, KEY, { castingMode: CastingMode.CASTING_MODE_MEMBERS_ONLY }, at + 1));
    const bySettings = (await get(`svc/channel/feed?id=${KEY}&limit=100`)).casts as Body[];
    expect(new Set(bySettings.map(({ author }) => author.fid))).toEqual(new Set([4, 6]));
  });

  test("a message that is submitted under /v1 is merged, and one without authority is refused with the reason", async () => {
    const hash = cast(4, URL_OF_KEY);
    const submit = async (author: number) => {
      const { bytes } = pins(author, KEY, hash, at);
      const headers = { "content-type": "application/octet-stream" };
      const response = await fetch(`${api.url}/v1/submitMessage`, { method: "POST", headers, body: bytes });
      return [response.status, ((await response.json()) as Body).details];
    };
    expect(await submit(8)).toEqual([400, expect.stringContaining("unauthorized channel action")]);
    expect((await submit(2))[0]).toBe(200);
    expect((await get(`svc/channel/pin?id=${KEY}`)).pin.cast_hash).toBe(`0x${hash.toHex()}`);
  });

  test("check 17: a pin is shown with its cast, and is null once removed, as if there had never been one", async () => {
    const hash = cast(4, URL_OF_KEY);
    ingest(pins(2, KEY, hash, at));
    expect((await get(`svc/channel/pin?id=${KEY}`)).pin).toMatchObject({
      cast_hash: `0x${hash.toHex()}`,
      cast: { author: { fid: 4 } },
      pinned_by: { fid: 2 },
    });
    ingest(pins(1, KEY, new Uint8Array(), at));
    expect(await get(`svc/channel/pin?id=${KEY}`)).toEqual({ pin: null });
    expect(await get("svc/channel/pin?id=plain")).toEqual({ pin: null });
  });
});

test("check 7: events of the registry that break its form are stored and served as events, and make no channel", async () => {
  const { CHANNEL_REGISTER_EVENT_TYPE_REGISTER: register, CHANNEL_REGISTER_EVENT_TYPE_RENEW: renew } =
    ChannelRegisterEventType;
  const broken = [
    {
      channelKey: "wrong-label",
      eventType: register,
      ownerAddress: walletOf(1),
      label: channelIdOfKey("other"),
    },
    {
      channelKey: "short",
      eventType: register,
      ownerAddress: walletOf(1).subarray(1),
      label: channelIdOfKey("short"),
    },
    {
      channelKey: "unknown",
      eventType: renew,
      ownerAddress: new Uint8Array(),
      label: channelIdOfKey("unknown"),
    },
  ].map((value, index) =>
    OnChainEvent.fromPartial({
      type: OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER,
      chainId: 1,
      blockNumber: 500_000 + index,
      blockTimestamp: 1_700_000_000,
      blockHash: new Uint8Array(32).fill(1),
      transactionHash: new Uint8Array(32).fill(2),
      body: { $case: "channelRegisterEventBody", value: { expiry: 4_000_000_000, ...value } },
    }),
  );
  const path = "v1/onChainEventsByFid?fid=0&event_type=EVENT_TYPE_CHANNEL_REGISTER";
  const events = async () => ((await (await fetch(`${api.url}/${path}`)).json()) as Body).events.length;
  const before = await events();
  expect(broken.map((event) => api.node.ingestEvent(event))).toEqual(["ok", "ok", "ok"]);
  expect(await events()).toBe(before + 3);
  for (const key of ["wrong-label", "other", "short", "unknown"])
    expect((await fetch(`${api.url}/v2/svc/channel/roles?id=${key}`)).status).toBe(404);
});

test("check 27: the new reads are 503 until earlier decisions of shard 0 have been read, and the others are served", async () => {
  const { db } = api.node;
  const move = (positions: readonly PositionUpdate[]) =>
    db.transaction(() => {
      for (const { key, position } of positions) putPosition(db, key, position);
      db.invalidations.everything();
    });
  const statuses = async () => {
    const paths = [
      ...["roles", "pin", "moderations", "bans", "follows", "feed"].map(
        (name) => `svc/channel/${name}?id=${KEY}`,
      ),
      "svc/user/channel/follows?fid=8",
      "svc/user/channel/roles?fid=3",
    ];
    const found = await Promise.all(paths.map(async (path) => (await fetch(`${api.url}/v2/${path}`)).status));
    const hub = await fetch(`${api.url}/v1/channelOwner?channel_key=${KEY}`);
    return [...new Set([...found, hub.status])];
  };
  expect(await statuses()).toEqual([200]);
  move([followedFromPosition(5)]);
  expect(await statuses()).toEqual([503]);
  expect((await get(`svc/channel?id=${KEY}`)).channel.id).toBe(KEY);
  move([HISTORY_DONE]);
  expect(await statuses()).toEqual([200]);
});
