import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MessageType, UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { proEvent, registerEvent, transferEvent } from "../support/events.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeWallet,
  signedCast,
  signMessage,
  type TestData,
} from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { hashOf, linkMessage } from "../support/social.ts";

let api: TestApi;

const root = sign(1, {
  type: MessageType.MESSAGE_TYPE_CAST_ADD,
  body: {
    $case: "castAddBody",
    value: {
      text: "root for ",
      mentions: [2, 77],
      mentionsPositions: [9, 9],
      parent: { $case: "parentUrl", value: "chain://eip155:1/erc721:0xabc" },
    },
  },
});
const quote = sign(2, {
  type: MessageType.MESSAGE_TYPE_CAST_ADD,
  timestamp: DEFAULT_TIMESTAMP + 1,
  body: {
    $case: "castAddBody",
    value: {
      text: "look",
      embeds: [
        { embed: { $case: "castId", value: castId(1, root) } },
        { embed: { $case: "castId", value: { fid: 2, hash: castId(1, root).hash } } },
        { embed: { $case: "url", value: "https://example.com/?a=1,2" } },
      ],
    },
  },
});
const casts = [0, 1, 2, 3, 4].map((n) =>
  signedCast(3, `number ${n}`, accountSigner(3), { timestamp: DEFAULT_TIMESTAMP + (n >> 1) }),
);

beforeAll(async () => {
  api = await startTestApi();
  const { node } = api;
  for (const fid of [1, 2, 3]) node.ingestAll(accountRecords(fid));
  node.ingestEvent(proEvent(1, 30, { block: 5, at: DEFAULT_NOW_SECS - 86_400 }));
  for (const [type, value] of [
    [UserDataType.USER_DATA_TYPE_USERNAME, "user1"],
    [UserDataType.USER_DATA_TYPE_LOCATION, "geo:52.52,-13.40"],
    [UserDataType.USER_DATA_TYPE_TWITTER, "one_x"],
    [UserDataType.USER_DATA_TYPE_GITHUB, "one-git"],
    [UserDataType.USER_DATA_TYPE_BANNER, "https://example.com/banner.png"],
  ] as const) {
    const userData = { $case: "userDataBody", value: { type, value } } as const;
    expect(
      node.ingestMessage(sign(1, { type: MessageType.MESSAGE_TYPE_USER_DATA_ADD, body: userData })),
    ).toBe("ok");
  }
  for (const message of [root, quote, ...casts, linkMessage(2, "follow", 1), linkMessage(1, "follow", 3)])
    expect(node.ingestMessage(message)).toBe("ok");
});

afterAll(() => api[Symbol.asyncDispose]());

function sign(fid: number, data: TestData): Uint8Array {
  return signMessage({ fid, ...data }, accountSigner(fid));
}

function castId(fid: number, message: Uint8Array): { fid: number; hash: Uint8Array } {
  return { fid, hash: Buffer.from(hashOf(message).slice(2), "hex") };
}

describe("users", () => {
  test("a User is complete", async () => {
    const { body } = await api.get("/user?fid=1");
    expect(body).toEqual({
      user: {
        object: "user",
        fid: 1,
        username: "user1",
        display_name: null,
        custody_address: `0x${Buffer.from(makeWallet("custody 1").address).toString("hex")}`,
        pfp_url: null,
        registered_at: DEFAULT_NOW_SECS - 86_400,
        profile: {
          bio: { text: "" },
          location: { latitude: 52.52, longitude: -13.4 },
          banner: { url: "https://example.com/banner.png" },
          url: null,
        },
        follower_count: 1,
        following_count: 1,
        verifications: [],
        auth_addresses: [],
        verified_addresses: {
          eth_addresses: [],
          sol_addresses: [],
          primary: { eth_address: null, sol_address: null },
        },
        verified_accounts: [
          { platform: "x", username: "one_x" },
          { platform: "github", username: "one-git" },
        ],
        pro: {
          status: "subscribed",
          subscribed_at: DEFAULT_NOW_SECS - 86_400,
          expires_at: DEFAULT_NOW_SECS + 29 * 86_400,
        },
        power_badge: false,
      },
    });
  });

  test("unknown objects are 404, malformed or missing parameters 400 naming the parameter", async () => {
    const unknown = ["/user?fid=9", "/user/by-username?username=User1", "/user/by_username?username=nobody"];
    for (const path of [
      ...unknown,
      `/user/custody-address?custody_address=0x${"9".repeat(40)}`,
      "/user/verifications?fid=9",
    ])
      expect((await api.get(path)).status).toBe(404);
    for (const [path, name] of [
      ["/user", "fid"],
      ["/user?fid=", "fid"],
      ["/user?fid=-1", "fid"],
      ["/user?fid=1.0", "fid"],
      ["/user?fid=1e3", "fid"],
      ["/user?fid=18446744073709551616", "fid"],
      ["/user/bulk", "fids"],
      ["/user/bulk?fids=1,x", "fids"],
      ["/user/by-username", "username"],
      ["/user/custody-address?custody_address=0x12", "custody_address"],
      ["/cast", "identifier"],
      ["/cast?identifier=0x12", "identifier"],
      ["/cast?identifier=https://elsewhere.example/a/0x12345678&type=url", "identifier"],
      ["/cast?identifier=x&type=other", "type"],
      ["/cast/bulk?hashes=0x12", "hashes"],
      ["/casts", "casts"],
      ["/feed/user/casts?fid=1&limit=0", "limit"],
      ["/feed/user/casts?fid=1&limit=-1", "limit"],
      ["/feed/user/casts?fid=1&limit=x", "limit"],
      ["/feed/user/casts?fid=1&cursor=garbage", "cursor"],
    ] as const) {
      const { status, body } = await api.get(path);
      expect({ path, status }).toEqual({ path, status: 400 });
      expect(body.message).toContain(name);
    }
  });

  test("an fid above 32 or 53 bits is unknown and never another user", async () => {
    for (const fid of [2n ** 32n + 1n, 2n ** 53n + 1n, 2n ** 64n - 1n]) {
      expect((await api.get(`/user?fid=${fid}`)).status).toBe(404);
      expect((await api.get(`/user/bulk?fids=${fid}`)).body).toEqual({ users: [] });
      expect((await api.get(`/feed/user/casts?fid=${fid}`)).body).toEqual({
        casts: [],
        next: { cursor: null },
      });
    }
  });

  test("lists contain each known user once in the requested order, in either spelling", async () => {
    for (const query of ["fids=3,9,1,3", "fids=3&fids=9%2C1&fids=,3,"]) {
      const { body } = await api.get(`/user/bulk?${query}`);
      expect((body.users as { fid: number }[]).map(({ fid }) => fid)).toEqual([3, 1]);
    }
    const many = Array.from({ length: 351 }, (_, n) => n + 1).join(",");
    expect((await api.get(`/user/bulk?fids=${many}`)).status).toBe(400);
  });

  test("custody is current: after a transfer the old address is unknown, and of two fids the lower one is returned", async () => {
    const old = Buffer.from(makeWallet("custody 2").address);
    const next = makeWallet("custody next").address;
    api.node.ingestEvent(transferEvent(2, old, next, { block: 900_000 }));
    api.node.ingestEvent(registerEvent(500, next, { block: 900_001 }));
    const path = (address: Uint8Array) =>
      `/user/custody-address?custody_address=0x${Buffer.from(address).toString("hex").toUpperCase()}`;
    expect((await api.get(path(old))).status).toBe(404);
    expect((await api.get(path(next))).body.user).toMatchObject({ fid: 2 });
  });
});

describe("casts", () => {
  test("a quote contains the quoted cast, and a cast id with the wrong author matches no cast", async () => {
    const { body } = await api.get(
      `/cast?identifier=${hashOf(quote).toUpperCase().replace("0X", "0x")}&fid=2`,
    );
    expect(body.cast).toMatchObject({
      hash: hashOf(quote),
      type: "cast",
      channel: null,
      embeds: [
        { cast_id: { fid: 1, hash: hashOf(root) }, cast: { hash: hashOf(root), author: { fid: 1 } } },
        { cast_id: { fid: 2, hash: hashOf(root) }, cast: null },
        { url: "https://example.com/?a=1,2" },
      ],
    });
    expect((await api.get(`/cast?identifier=${hashOf(quote)}&fid=1`)).status).toBe(404);
  });

  test("the text contains the mentioned names; an unknown fid is written as its number and has no profile", async () => {
    const { body } = await api.get(`/cast?identifier=${hashOf(root)}`);
    expect(body.cast).toMatchObject({
      text: "root for @!2@!77",
      mentioned_profiles: [{ fid: 2 }],
      mentioned_profiles_ranges: [{ start: 9, end: 12 }],
      root_parent_url: "chain://eip155:1/erc721:0xabc",
      channel: { id: "chain://eip155:1/erc721:0xabc" },
    });
  });

  test("a cast is found by both forms of a client's URL, on both hosts", async () => {
    for (const host of ["warpcast.com", "farcaster.xyz"]) {
      for (const path of [
        `user1/${hashOf(root).slice(0, 10)}`,
        `user1/${hashOf(root)}`,
        `!1/${hashOf(root).slice(0, 13)}`,
        `~/conversations/${hashOf(root)}`,
      ]) {
        const { body } = await api.get(
          `/cast?type=url&identifier=${encodeURIComponent(`https://${host}/${path}`)}`,
        );
        expect(body.cast).toMatchObject({ hash: hashOf(root) });
      }
    }
    const elsewhere = encodeURIComponent(`https://farcaster.xyz/user3/${hashOf(root).slice(0, 10)}`);
    expect((await api.get(`/cast?type=url&identifier=${elsewhere}`)).status).toBe(404);
  });

  test("lists by hash have the requested order under both names", async () => {
    const requested = [quote, root].map(hashOf).join(",");
    const missing = `0x${"0".repeat(40)}`;
    for (const path of [
      `/cast/bulk?hashes=${requested},${missing}`,
      `/casts?casts=${missing}&casts=${requested}`,
    ]) {
      const { body } = await api.get(path);
      expect((body.casts as { hash: string }[]).map(({ hash }) => hash)).toEqual([
        hashOf(quote),
        hashOf(root),
      ]);
    }
  });
});

describe("/feed/user/casts", () => {
  test("pages of any size concatenate to the whole list, newest first, ties by hash", async () => {
    const whole = await pages(100);
    expect(whole).toHaveLength(5);
    const order = casts
      .map((bytes, n) => ({ hash: hashOf(bytes), at: n >> 1 }))
      .sort((a, b) => b.at - a.at || (a.hash < b.hash ? 1 : -1));
    expect(whole).toEqual(order.map(({ hash }) => hash));
    for (const limit of [1, 2, 3, 1_000_000_000]) expect(await pages(limit)).toEqual(whole);
  });

  test("a page runs a few statements whatever its size", async () => {
    const counts = new Set<number>();
    for (const limit of [1, 2, 5]) {
      api.takeStatements();
      await api.get(`/feed/user/casts?fid=3&limit=${limit}`);
      counts.add(api.takeStatements().length);
    }
    // Two more for equal times at the end of the page, and one for the hash in the cursor.
    expect(Math.max(...counts)).toBeLessThanOrEqual(9);
  });
});

async function pages(limit: number): Promise<string[]> {
  const hashes: string[] = [];
  let cursor: string | null = null;
  do {
    const more: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await api.get(`/feed/user/casts?fid=3&limit=${limit}${more}`);
    for (const { hash } of body.casts as { hash: string }[]) hashes.push(hash);
    ({ cursor } = body.next as { cursor: string | null });
  } while (cursor !== null);
  return hashes;
}
