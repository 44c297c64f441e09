import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importRegistry } from "../../src/import/channel-registry.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { hashOf } from "../support/social.ts";

let api: TestApi;
let dir: string;

const NEW_HOST = "https://farcaster.xyz/~/channel";
const OLD_HOST = "https://warpcast.com/~/channel";
const PUNKS = "chain://eip155:1/erc721:0xabc";
/** As long as a parent URL can be, of characters that JSON stretches most. */
const HOSTILE = `x:${"\u0001".repeat(254)}`;

beforeAll(async () => {
  api = await startTestApi();
  dir = mkdtempSync(join(tmpdir(), "channels-test-"));
  for (const fid of [1, 2, 3, 4]) api.node.ingestAll(accountRecords(fid));
  // Fid, parent URL, seconds after the default time.
  for (const [fid, url, at] of [
    [1, `${OLD_HOST}/books`, 1],
    [2, `${NEW_HOST}/books`, 2],
    [3, `${NEW_HOST}/books`, 3],
    [1, `${NEW_HOST}/books`, 4],
    [1, `${OLD_HOST}/Bookmarks`, 5],
    [2, `${OLD_HOST}/Bookmarks`, 5],
    [1, PUNKS, 6],
    [4, HOSTILE, 7],
    [4, "https://example.com/a", 7],
    [4, `${OLD_HOST}/cats`, 7],
    [4, "bare", 7],
    [4, `${OLD_HOST}/http:x`, 8],
  ] as const)
    cast(fid, url, at);
  importFile([
    {
      id: "books",
      url: `${NEW_HOST}/books`,
      name: "Literature",
      imageUrl: "https://images.example/b.png",
      description: "Reading",
      leadFid: 2,
      moderatorFids: [3, 99],
      followerCount: 50,
      createdAt: 1_700_000_000_000,
      pinnedCastHash: `0x${"ab".repeat(20)}`,
    },
    { id: "punks", url: PUNKS, name: "Punks" },
    { id: "quiet", name: "Bibliophiles", leadFid: 99, createdAt: 5 },
    { id: "silent" },
  ]);
});

afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await api[Symbol.asyncDispose]();
});

function importFile(rows: unknown[]): void {
  const path = join(dir, "registry.json");
  writeFileSync(path, JSON.stringify(rows));
  expect(importRegistry(api.node.db, path).badRows).toEqual([]);
}

let serial = 0;

function cast(fid: number, parentUrl: string, at: number): `0x${string}` {
  const message = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      timestamp: DEFAULT_TIMESTAMP + at,
      body: {
        $case: "castAddBody",
        value: { text: `cast ${serial++}`, parent: { $case: "parentUrl", value: parentUrl } },
      },
    },
    accountSigner(fid),
  );
  expect(api.node.ingestMessage(message)).toBe("ok");
  return hashOf(message);
}

function removeCast(fid: number, hash: string): void {
  const targetHash = Buffer.from(hash.slice(2), "hex");
  const message = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
      fid,
      timestamp: DEFAULT_TIMESTAMP + 100,
      body: { $case: "castRemoveBody", value: { targetHash } },
    },
    accountSigner(fid),
  );
  expect(api.node.ingestMessage(message)).toBe("ok");
}

const one = async (query: string) => (await api.get(`/channel?${query}`)).body.channel;
const q = encodeURIComponent;

async function ids(path: string, limit = 100): Promise<string[]> {
  return (await readAllPages<{ id: string }>(api, path, "channels", limit)).map(({ id }) => id);
}

const ALL = [
  "Bookmarks",
  "bare",
  "books",
  "cats",
  PUNKS,
  "https://example.com/a",
  `${OLD_HOST}/http:x`,
  "quiet",
  "silent",
  HOSTILE,
];

/** The fields that only registered channels have. */
const NOT_REGISTERED = {
  channel_id: null,
  owner: null,
  owner_address: null,
  expires_at: null,
  lapsed: false,
  header: null,
  rules: null,
  casting_mode: null,
  membership_mode: null,
};

describe("/channel", () => {
  test("an imported channel is complete, under its id and each of its URLs", async () => {
    const { body } = await api.get("/channel?id=books");
    expect(body).toEqual({
      channel: {
        object: "channel",
        id: "books",
        url: `${NEW_HOST}/books`,
        parent_url: `${NEW_HOST}/books`,
        name: "Literature",
        image_url: "https://images.example/b.png",
        description: "Reading",
        lead: expect.objectContaining({ object: "user", fid: 2 }),
        moderator_fids: [3, 99],
        follower_count: 50,
        member_count: 3,
        created_at: 1_700_000_000,
        pinned_cast_hash: `0x${"ab".repeat(20)}`,
        source: "import",
        ...NOT_REGISTERED,
      },
    });
    for (const query of [
      `id=${q(`${OLD_HOST}/books`)}`,
      `id=${q(`${NEW_HOST}/books`)}&type=parent_url`,
      `id=${q(`${OLD_HOST}/books`)}&type=parent_url`,
    ])
      expect((await api.get(`/channel?${query}`)).body).toEqual(body);
  });

  test("a channel that was not imported is named by its id, has one URL for all hosts, and is as old as its first cast", async () => {
    expect(await one("id=cats")).toEqual({
      object: "channel",
      id: "cats",
      url: `${OLD_HOST}/cats`,
      parent_url: `${OLD_HOST}/cats`,
      name: "cats",
      image_url: null,
      description: null,
      lead: null,
      moderator_fids: [],
      follower_count: 0,
      member_count: 1,
      created_at: DEFAULT_NOW_SECS + 7,
      pinned_cast_hash: null,
      source: "activity",
      ...NOT_REGISTERED,
    });
    expect(await one(`id=${q("https://example.com/a")}`)).toMatchObject({
      id: "https://example.com/a",
      parent_url: "https://example.com/a",
    });
    expect(await one(`id=${q(`${OLD_HOST}/http:x`)}`)).toMatchObject({ parent_url: `${OLD_HOST}/http:x` });
  });

  test("a channel that was only imported has no members, and its lead is null for an unknown fid", async () => {
    expect(await one("id=quiet")).toMatchObject({
      name: "Bibliophiles",
      lead: null,
      member_count: 0,
      created_at: 5,
    });
    expect(await one("id=silent")).toMatchObject({
      name: "silent",
      parent_url: `${OLD_HOST}/silent`,
      created_at: null,
    });
  });

  test("finds a channel with another URL by its name in the registry", async () => {
    expect(await one("id=punks")).toMatchObject({
      id: PUNKS,
      name: "Punks",
      parent_url: PUNKS,
      member_count: 1,
    });
    expect((await api.get("/channel/members?channel_id=punks")).body.users).toMatchObject([{ fid: 1 }]);
    expect((await api.get("/channel?id=punks&type=parent_url")).status).toBe(404);
  });

  test("unknown channels are 404; malformed or missing parameters are 400 naming the parameter", async () => {
    for (const query of [
      "id=nothing",
      "id=Books",
      `id=${q(`${OLD_HOST}/Books`)}`,
      `id=${q(`${OLD_HOST}/books/`)}`,
      "id=%00",
    ])
      expect({ query, status: (await api.get(`/channel?${query}`)).status }).toEqual({ query, status: 404 });
    for (const [path, name] of [
      ["/channel", "id"],
      ["/channel?id=a&type=other", "type"],
      ["/channel?id=a&id=b", "id"],
      ["/channel/bulk", "ids"],
      ["/channel/bulk?ids=,", "ids"],
      ["/channel/bulk?ids=a&type=x", "type"],
      [`/channel/bulk?ids=${Array.from({ length: 351 }, (_, n) => n).join(",")}`, "ids"],
      ["/channel/search", "q"],
      [`/channel/search?q=${"x".repeat(1025)}`, "q"],
      ["/channel/members", "channel_id"],
      ["/channel/member/list?limit=1", "channel_id"],
      ["/channel/followers", "channel_id"],
      ["/channel/followers/relevant", "channel_id"],
      ["/channel/user-active", "fid"],
      ["/channel/user?fid=x", "fid"],
      ["/user/channels?fid=-1", "fid"],
      ["/user/memberships/list", "fid"],
    ] as const) {
      const { status, body } = await api.get(path);
      expect({ path, status }).toEqual({ path, status: 400 });
      expect(body.message).toContain(name);
    }
    const foreign = ((await api.get("/channel/all?limit=1")).body.next as { cursor: string }).cursor;
    for (const path of [
      "/channel/all?a=a",
      "/channel/list?a=a",
      "/channel/search?q=b",
      "/channel/trending?a=a",
      "/channel/members?channel_id=books",
      "/channel/user-active?fid=1",
      "/user/memberships/list?fid=1",
    ]) {
      const wrong = ["limit=0", "limit=-1", "limit=x", "cursor=garbage"];
      if (!/all|list\?a/.test(path)) wrong.push(`cursor=${foreign}`);
      for (const bad of wrong) {
        const { status, body } = await api.get(`${path}&${bad}`);
        expect({ path, bad, status }).toEqual({ path, bad, status: 400 });
        expect(body.message).toContain(bad.split("=")[0] ?? "");
      }
    }
  });
});

describe("lists of channels", () => {
  test("/channel/all and /channel/list contain every channel once, by id, at any page size, also while casts are added and removed", async () => {
    for (const path of ["/channel/all", "/channel/list"])
      for (const limit of [1, 3, 100]) expect(await ids(path, limit)).toEqual(ALL);
    let hash = "";
    const walked = await readAllPages<{ id: string }>(api, "/channel/all", "channels", 1, (page) => {
      if (page === 1) hash = cast(3, "chain://new", 9);
      if (page === 5) removeCast(3, hash);
    });
    expect(walked.map(({ id }) => id).filter((id) => id !== "chain://new")).toEqual(ALL);
    expect(await ids("/channel/all")).toEqual(ALL);
  });

  test("/channel/bulk returns each channel once in the requested order, without unknown ones", async () => {
    const requested = ["punks", "nothing", "cats", `${OLD_HOST}/books`, "books", PUNKS];
    const { body } = await api.get(`/channel/bulk?type=id&ids=${requested.map(q).join(",")}`);
    expect((body.channels as { id: string }[]).map(({ id }) => id)).toEqual([PUNKS, "cats", "books"]);
    expect(body.next).toEqual({ cursor: null });
    const urls = [`${OLD_HOST}/cats`, "books", `${NEW_HOST}/books`].map(q).join("&ids=");
    expect(await ids(`/channel/bulk?type=parent_url&ids=${urls}`)).toEqual(["cats", "books"]);
  });

  test("/channel/search finds ids and names by prefix ignoring case, most members first, then by id", async () => {
    const found: Record<string, string[]> = {
      book: ["books", "Bookmarks"],
      BOOKM: ["Bookmarks"],
      b: ["books", "Bookmarks", "bare", "quiet"],
      LITER: ["books"],
      bib: ["quiet"],
      pun: [PUNKS],
      "chain://": [PUNKS],
      ookm: [],
      "%": [],
      "'\"*": [],
    };
    for (const [text, expected] of Object.entries(found))
      for (const limit of [1, 3, 100])
        expect({ text, ids: await ids(`/channel/search?q=${q(text)}`, limit) }).toEqual({
          text,
          ids: expected,
        });
  });

  test("a prefix of very many channels is searched in the same order", async () => {
    const rows = Array.from({ length: 1200 }, (_, n) => ({ id: `crowd${String(n).padStart(4, "0")}` }));
    importFile(rows);
    for (const [fid, id] of [
      [1, "crowd0700"],
      [2, "crowd0700"],
      [1, "crowd0900"],
      [1, "crowdless"],
    ] as const)
      cast(fid, `${NEW_HOST}/${id}`, 20);
    const found = await ids("/channel/search?q=Crowd", 100);
    expect(found.slice(0, 4)).toEqual(["crowd0700", "crowd0900", "crowdless", "crowd0000"]);
    expect(found.slice(3)).toEqual(
      rows.map(({ id }) => id).filter((id) => !["crowd0700", "crowd0900"].includes(id)),
    );
  });

  test("/channel/trending follows the ranking of the background task", async () => {
    expect(await ids("/channel/trending")).toEqual([]);
    const put = api.node.db.sqlite.query<unknown, [number, Uint8Array]>(
      "INSERT INTO rankings (kind, snapshot, rank, ref, score) VALUES ('channels', 7, ?, ?, 1)",
    );
    const ranked = ["cats", HOSTILE, PUNKS, "books"];
    for (const [at, id] of ranked.entries()) put.run(at + 1, Buffer.from(id));
    for (const limit of [1, 3]) expect(await ids("/channel/trending", limit)).toEqual(ranked);
  });
});

describe("members", () => {
  const MEMBER_PATHS = [
    "/channel/members",
    "/channel/member/list",
    "/channel/followers",
    "/channel/followers/relevant",
  ];

  async function members(path: string, limit = 100): Promise<number[]> {
    return (await readAllPages<{ fid: number }>(api, path, "users", limit)).map(({ fid }) => fid);
  }

  test("lists each author of direct casts once, last active first, under all names and hosts", async () => {
    for (const path of MEMBER_PATHS)
      for (const id of ["books", `${OLD_HOST}/books`, `${NEW_HOST}/books`])
        for (const limit of [1, 3])
          expect(await members(`${path}?channel_id=${q(id)}`, limit)).toEqual([1, 3, 2]);
    expect(await members("/channel/members?channel_id=nothing")).toEqual([]);
    expect(await members("/channel/members?channel_id=quiet")).toEqual([]);
  });

  test("lists a user's channels latest first, ties by id, whatever the ids contain, under all names", async () => {
    const ofFour = [`${OLD_HOST}/http:x`, HOSTILE, "https://example.com/a", "cats", "bare"];
    for (const path of ["/channel/user-active", "/channel/user", "/user/channels", "/user/memberships/list"])
      for (const limit of [1, 2, 100]) expect(await ids(`${path}?fid=4`, limit)).toEqual(ofFour);
    for (const fid of ["99", "18446744073709551615"])
      expect((await api.get(`/user/memberships/list?fid=${fid}`)).body).toEqual({
        members: [],
        channels: [],
        next: { cursor: null },
      });
  });

  test("a membership contains the user and the channel", async () => {
    const { body } = await api.get("/user/memberships/list?fid=3&limit=1");
    const [channel] = body.channels as unknown[];
    expect(body.members).toEqual([
      { object: "member", role: "member", user: expect.objectContaining({ fid: 3 }), channel },
    ]);
    expect(channel).toMatchObject({ id: "books" });
  });

  test("members and counts are removed with the last cast", async () => {
    const hash = cast(3, `${NEW_HOST}/cats`, 30);
    expect(await members("/channel/members?channel_id=cats")).toEqual([3, 4]);
    expect(await one("id=cats")).toMatchObject({ member_count: 2 });
    removeCast(3, hash);
    expect(await members("/channel/members?channel_id=cats")).toEqual([4]);
    const second = cast(4, "bare", 31);
    removeCast(4, second);
    expect(await one("id=bare")).toMatchObject({ member_count: 1, created_at: DEFAULT_NOW_SECS + 7 });
  });
});

test("a cast contains its channel with the registry's name and image and the channel's own URL", async () => {
  const inBooks = cast(3, `${OLD_HOST}/books`, 40);
  const inCats = cast(3, `${NEW_HOST}/cats`, 41);
  api.takeStatements();
  const { body } = await api.get(`/cast/bulk?hashes=${inBooks},${inCats}`);
  expect(api.takeStatements().filter((name) => name === "hydrate.channels")).toHaveLength(1);
  expect((body.casts as { channel: unknown }[]).map(({ channel }) => channel)).toEqual([
    {
      object: "channel_dehydrated",
      id: "books",
      name: "Literature",
      image_url: "https://images.example/b.png",
      parent_url: `${NEW_HOST}/books`,
    },
    {
      object: "channel_dehydrated",
      id: "cats",
      name: "cats",
      image_url: null,
      parent_url: `${OLD_HOST}/cats`,
    },
  ]);
});

test("a page runs the same few statements whatever its size", async () => {
  for (const path of [
    "/channel/all?a=a",
    "/channel/search?q=b",
    "/channel/members?channel_id=books",
    "/user/memberships/list?fid=4",
  ]) {
    const counts = new Set<number>();
    for (const limit of [2, 3, 100]) {
      api.takeStatements();
      await api.get(`${path}&limit=${limit}`);
      counts.add(api.takeStatements().filter((name) => !name.startsWith("hydrate.")).length);
    }
    expect({ path, counts: counts.size }).toEqual({ path, counts: 1 });
    expect([...counts][0]).toBeLessThanOrEqual(3);
  }
});
