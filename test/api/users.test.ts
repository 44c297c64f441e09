import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MessageType, UserDataType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { fnameProof, registerEvent } from "../support/events.ts";
import { DEFAULT_TIMESTAMP, makeWallet, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

let api: TestApi;

const ACCOUNTS = [1, 2, 3, 4, 5, 6, 7, 8];
const { USER_DATA_TYPE_USERNAME, USER_DATA_TYPE_DISPLAY, USER_DATA_TYPE_LOCATION, USER_DATA_TYPE_TWITTER } =
  UserDataType;

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of ACCOUNTS) api.node.ingestAll(accountRecords(fid, 2));
});

afterAll(() => api[Symbol.asyncDispose]());

function setData(fid: number, type: UserDataType, value: string, at = DEFAULT_TIMESTAMP): void {
  const bytes = signMessage(
    {
      fid,
      timestamp: at,
      type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
      body: { $case: "userDataBody", value: { type, value } },
    },
    accountSigner(fid),
  );
  expect(api.node.ingestMessage(bytes)).toBe("ok");
}

function nameUser(fid: number, name: string): void {
  expect(
    api.node.ingestProof(fnameProof(name, fid, makeWallet(`custody ${fid}`).address, 1_700_000_000)),
  ).toBe("ok");
  setData(fid, USER_DATA_TYPE_USERNAME, name);
}

function verify(fid: number, address: string): void {
  const bytes = signMessage(
    {
      fid,
      type: MessageType.MESSAGE_TYPE_VERIFICATION_ADD,
      body: {
        $case: "verificationAddBody",
        value: { address: Buffer.from(address.slice(2), "hex"), claimSignature: Buffer.alloc(65, 1) },
      },
    },
    accountSigner(fid),
  );
  expect(api.node.merge([{ kind: "message", bytes }])).toEqual([undefined]);
}

function cast(fid: number, text: string, mentions: number[] = []): Uint8Array {
  const bytes = signMessage(
    {
      fid,
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      body: {
        $case: "castAddBody",
        value: { text, mentions, mentionsPositions: mentions.map(() => 0) },
      },
    },
    accountSigner(fid),
  );
  expect(api.node.ingestMessage(bytes)).toBe("ok");
  return bytes;
}

const take = (bytes: Uint8Array) => expect(api.node.ingestMessage(bytes)).toBe("ok");

async function fidsOf(path: string): Promise<number[]> {
  const { status, body } = await api.get(path);
  expect(status).toBe(200);
  return (body.users as { fid: number }[]).map(({ fid }) => fid);
}

test("a missing or malformed parameter is 400 naming it", async () => {
  for (const [path, name] of [
    ["/user/bulk-by-address", "addresses"],
    ["/user/bulk-by-address?addresses=0x12", "addresses"],
    ["/user/by_x_username", "username"],
    ["/user/by_location", "location"],
    ["/user/by_location?location=geo&limit=0", "limit"],
    ["/user/by_location?location=geo&cursor=x", "cursor"],
    ["/user/search", "q"],
    ["/user/search?q=", "q"],
    ["/user/search?q=a&limit=-1", "limit"],
    ["/user/search?q=a&cursor=AAAA", "cursor"],
    ["/user/fid?limit=x", "limit"],
    ["/user/fid?cursor=zz", "cursor"],
    ["/user/fid?cursor=00", "cursor"],
    ["/user/best_friends", "fid"],
    ["/user/best_friends?fid=a", "fid"],
    ["/user/best_friends?fid=1&cursor=a", "cursor"],
    ["/user/interactions", "fid"],
    ["/user/interactions?fid=1&target_fid=x", "target_fid"],
  ] as const) {
    const { status, body } = await api.get(path);
    expect({ path, status }).toEqual({ path, status: 400 });
    expect(body.message).toContain(name);
  }
});

describe("/user/bulk-by-address", () => {
  const a = `0x${"ab".repeat(20)}`;
  const b = `0x${"cd".repeat(20)}`;

  test("finds verified addresses ignoring case, in the requested order, each user once, and no custody address", async () => {
    verify(3, a);
    verify(2, b);
    verify(1, b);
    verify(3, b);
    const custody = `0x${Buffer.from(makeWallet("custody 4").address).toString("hex")}`;
    expect(
      await fidsOf(`/user/bulk-by-address?addresses=${b.toUpperCase().replace("0X", "0x")},${a}`),
    ).toEqual([1, 2, 3]);
    expect(await fidsOf(`/user/bulk-by-address?addresses=${a},${custody}&addresses=${b}`)).toEqual([3, 1, 2]);
    expect(await fidsOf(`/user/bulk-by-address?addresses=${custody}`)).toEqual([]);
  });
});

describe("/user/by_x_username", () => {
  test("finds the lowest fid of a name ignoring case; an unknown name is 404", async () => {
    setData(5, USER_DATA_TYPE_TWITTER, "some_x");
    setData(4, USER_DATA_TYPE_TWITTER, "some_x");
    expect((await api.get("/user/by_x_username?username=SOME_X")).body.user).toMatchObject({ fid: 4 });
    setData(4, USER_DATA_TYPE_TWITTER, "", DEFAULT_TIMESTAMP + 1);
    expect((await api.get("/user/by_x_username?username=some_x")).body.user).toMatchObject({ fid: 5 });
    expect((await api.get("/user/by_x_username?username=some")).status).toBe(404);
  });
});

describe("/user/by_location", () => {
  test("finds every user of a location and of locations with the prefix, in pages of any size", async () => {
    for (const fid of [7, 3, 5]) setData(fid, USER_DATA_TYPE_LOCATION, "geo:52.52,13.40");
    setData(1, USER_DATA_TYPE_LOCATION, "geo:52.50,13.40");
    setData(2, USER_DATA_TYPE_LOCATION, "geo:53.00,13.40");
    setData(4, USER_DATA_TYPE_LOCATION, "geo:5.20,1.00");
    for (const limit of [1, 2, 3, 100]) {
      const users = await readAllPages<{ fid: number }>(
        api,
        "/user/by_location?location=GEO:52",
        "users",
        limit,
      );
      expect(users.map(({ fid }) => fid)).toEqual([1, 3, 5, 7]);
    }
    expect(await fidsOf("/user/by_location?location=geo:52.52,13.40")).toEqual([3, 5, 7]);
    expect(await fidsOf("/user/by_location?location=geo:5%25")).toEqual([]);
    expect(await fidsOf("/user/by_location?location=geo:")).toEqual([4, 1, 3, 5, 7, 2]);
  });

  test("a cursor of other locations returns no location outside the prefix", async () => {
    const { body } = await api.get("/user/by_location?location=geo:&limit=1");
    const { cursor } = body.next as { cursor: string };
    expect(await fidsOf(`/user/by_location?location=geo:52.52&cursor=${cursor}`)).toEqual([]);
  });
});

describe("/user/search", () => {
  const search = (q: string, limit = 100) =>
    readAllPages<{ fid: number }>(api, `/user/search?q=${encodeURIComponent(q)}`, "users", limit).then(
      (users) => users.map(({ fid }) => fid),
    );

  test("returns the exact name, then names by followers, then words of display names by followers, each user once", async () => {
    nameUser(1, "anna");
    nameUser(2, "annabel");
    nameUser(3, "anna-two");
    nameUser(4, "zed");
    setData(4, USER_DATA_TYPE_DISPLAY, "Zed (Annabeth Anna)");
    setData(5, USER_DATA_TYPE_DISPLAY, "ANNA");
    setData(2, USER_DATA_TYPE_DISPLAY, "Anna");
    for (const [fid, target] of [
      [6, 2],
      [7, 2],
      [6, 5],
      [6, 1],
    ] as const)
      take(linkMessage(fid, "follow", target));
    for (const q of ["anna", "ANNA", "@Anna", " anna "]) expect(await search(q)).toEqual([1, 2, 3, 5, 4]);
    for (const limit of [1, 2, 3]) expect(await search("anna", limit)).toEqual([1, 2, 3, 5, 4]);
    expect(await search("ann")).toEqual([2, 1, 3, 5, 4]);
    expect(await search("annab")).toEqual([2, 4]);
  });

  test("matches a name only while it is the username and its proof is live", async () => {
    // user8 has the fname of the account records, but never set it as its username.
    expect(await search("user8")).toEqual([]);
    nameUser(8, "gone");
    expect(await search("gone")).toEqual([8]);
    const released = fnameProof("gone", 0, makeWallet("custody 8").address, 1_700_000_100);
    expect(api.node.ingestProof(released)).toBe("ok");
    expect(await search("gone")).toEqual([]);
  });

  test("accepts any text, and wildcards are plain text", async () => {
    for (const q of ["%", "_", "*", '"', "'", "@", " ", "\u{10ffff}", "a".repeat(1024), "安娜", "()", "\0"])
      expect(await search(q)).toEqual([]);
  });

  test("a page runs the same few statements whatever its size", async () => {
    const counts = new Set<number>();
    for (const limit of [1, 2, 5]) {
      api.takeStatements();
      await api.get(`/user/search?q=anna&limit=${limit}`);
      counts.add(api.takeStatements().length);
    }
    expect([...counts]).toEqual([8]);
  });
});

describe("/user/fid", () => {
  test("lists every fid ascending with hexadecimal cursors, with registrations between pages", async () => {
    const custody = makeWallet("custody of later ones").address;
    api.node.ingestEvent(registerEvent(2 ** 40, custody, { block: 900_000 }));
    for (const limit of [1, 3, 100])
      expect(await readAllPages<number>(api, "/user/fid", "fids", limit)).toEqual([...ACCOUNTS, 2 ** 40]);
    const walked = await readAllPages<number>(api, "/user/fid", "fids", 3, (page) => {
      if (page === 0) api.node.ingestEvent(registerEvent(100, custody, { block: 900_001 }));
    });
    expect(walked).toEqual([...ACCOUNTS, 100, 2 ** 40]);
    const { body } = await api.get("/user/fid?limit=1");
    expect((body.next as { cursor: string }).cursor).toMatch(/^[0-9a-f]+$/);
  });
});

describe("/user/best_friends", () => {
  test("returns mutual follows by the time of the later follow, newest first", async () => {
    const at = (n: number) => ({ at: DEFAULT_TIMESTAMP - 1000 + n });
    for (const [fid, target, n] of [
      [6, 8, 1],
      [8, 6, 50],
      [8, 7, 2],
      [7, 8, 60],
      [8, 3, 55],
      [3, 8, 4],
      [8, 4, 99],
      [5, 8, 99],
      [8, 8, 100],
    ] as const)
      take(linkMessage(fid, "follow", target, at(n)));
    for (const limit of [1, 2, 100]) {
      const users = await readAllPages<{ fid: number }>(api, "/user/best_friends?fid=8", "users", limit);
      expect(users.map(({ fid }) => fid)).toEqual([7, 3, 6]);
    }
  });
});

describe("/user/interactions", () => {
  test("counts live mentions and reactions of one user on live casts of the other", async () => {
    const liked = hashOf(cast(2, "one of two"));
    const other = hashOf(cast(2, "another of two"));
    cast(1, "hello", [2]);
    cast(1, "hello again", [2, 2]);
    cast(1, "hello you", [3]);
    take(reactionMessage(1, 1, { fid: 2, hash: liked }));
    take(reactionMessage(1, 2, { fid: 2, hash: liked }));
    take(reactionMessage(1, 1, { fid: 2, hash: other }));
    // Under a wrong author, and on an unknown cast.
    take(reactionMessage(1, 1, { fid: 3, hash: liked }));
    take(reactionMessage(1, 1, { fid: 2, hash: `0x${"77".repeat(20)}` }));
    take(linkMessage(1, "follow", 2));
    take(linkMessage(2, "follow", 1));
    const expected = { fid: 1, target_fid: 2, mentions: 2, reactions: 3, mutual_follow: true };
    expect((await api.get("/user/interactions?fid=1&target_fid=2")).body).toEqual({ interactions: expected });
    expect((await api.get("/user/interactions?fid=2&target_fid=1")).body).toEqual({
      interactions: { fid: 2, target_fid: 1, mentions: 0, reactions: 0, mutual_follow: true },
    });
    expect((await api.get("/user/interactions?fid=1&target_fid=3")).body).toMatchObject({
      interactions: { mentions: 1, reactions: 0, mutual_follow: false },
    });
  });

  test("is empty without a target, and 404 for an unknown fid", async () => {
    expect((await api.get("/user/interactions?fid=1")).body).toEqual({
      interactions: { fid: 1, target_fid: null, mentions: 0, reactions: 0, mutual_follow: false },
    });
    for (const unknown of ["fid=999", `fid=1&target_fid=${2n ** 32n + 2n}`, `fid=${2n ** 64n - 1n}`])
      expect((await api.get(`/user/interactions?${unknown}`)).status).toBe(404);
  });
});
