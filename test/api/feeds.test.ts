import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CastAddBody,
  type DeepPartial,
  MessageType,
  ReactionType,
} from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { hashOf, linkMessage, reactionMessage } from "../support/social.ts";

type Hash = `0x${string}`;

interface Posted {
  fid: number;
  at: number;
  hash: Hash;
  parentUrl: string | undefined;
  isReply: boolean;
}

let api: TestApi;
const posted: Posted[] = [];
const FIDS = [1, 2, 3, 4, 5];
const ART = ["https://warpcast.com/~/channel/art", "https://farcaster.xyz/~/channel/art"];
const CHAIN = "chain://eip155:1/erc721:0xabc";
const OTHER = "https://example.com/topic";

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of FIDS) api.node.ingestAll(accountRecords(fid, 10));
  const urls = [undefined, ...ART, CHAIN, OTHER];
  for (let n = 0; n < 60; n++) {
    const fid = FIDS[n % 4] ?? 1;
    const url = urls[(n * 7) % 5];
    const to = n % 6 === 5 ? posted[n - 3] : undefined;
    const parent: CastAddBody["parent"] = to
      ? { $case: "parentCastId", value: { fid: to.fid, hash: bytesOf(to.hash) } }
      : url === undefined
        ? undefined
        : { $case: "parentUrl", value: url };
    posted.push(post(fid, n >> 2, { text: `cast ${n}`, ...(parent ? { parent } : {}) }));
  }
  for (const target of [2, 3, 4, 5])
    expect(api.node.ingestMessage(linkMessage(1, "follow", target))).toBe("ok");
  expect(api.node.ingestMessage(linkMessage(2, "follow", 1))).toBe("ok");
});

afterAll(() => api[Symbol.asyncDispose]());

const bytesOf = (hash: Hash) => Buffer.from(hash.slice(2), "hex");

function post(fid: number, at: number, value: DeepPartial<CastAddBody>): Posted {
  const body = { $case: "castAddBody", value } as const;
  const message = signMessage(
    { type: MessageType.MESSAGE_TYPE_CAST_ADD, fid, timestamp: DEFAULT_TIMESTAMP - 1000 + at, body },
    accountSigner(fid),
  );
  expect(api.node.ingestMessage(message)).toBe("ok");
  const parentUrl = value.parent?.$case === "parentUrl" ? value.parent.value : undefined;
  return { fid, at, hash: hashOf(message), parentUrl, isReply: value.parent?.$case === "parentCastId" };
}

function remove({ fid, hash }: Posted): void {
  const body = { $case: "castRemoveBody", value: { targetHash: bytesOf(hash) } } as const;
  const data = { type: MessageType.MESSAGE_TYPE_CAST_REMOVE, fid, body };
  expect(api.node.ingestMessage(signMessage(data, accountSigner(fid)))).toBe("ok");
}

/** The posted casts expected in a feed, in its order. */
function feedOf(belongs: (cast: Posted) => boolean): Hash[] {
  return posted
    .filter(belongs)
    .sort((a, b) => b.at - a.at || (a.hash < b.hash ? 1 : -1))
    .map(({ hash }) => hash);
}

async function collectPages(path: string, limit: number, between?: () => void): Promise<Hash[]> {
  return (await readAllPages<{ hash: Hash }>(api, path, "casts", limit, between)).map(({ hash }) => hash);
}

const list = (...items: string[]) => items.map(encodeURIComponent).join(",");

const feeds: readonly [path: string, belongs: (cast: Posted) => boolean][] = [
  ["/feed/following?fid=1", ({ fid }) => fid !== 1],
  ["/feed/following?fid=2", ({ fid }) => fid === 1],
  ["/feed/following?fid=5", () => false],
  ["/feed?fid=1", ({ fid }) => fid !== 1],
  ["/feed?feed_type=following&fid=1", ({ fid }) => fid !== 1],
  ["/feed/channels?channel_ids=art", ({ parentUrl }) => ART.includes(parentUrl ?? "")],
  [`/feed/channels?channel_ids=${list(ART[0] ?? "")}`, ({ parentUrl }) => ART.includes(parentUrl ?? "")],
  [
    `/feed/channels?channel_ids=${list("art", ART[1] ?? "", CHAIN, "none")}`,
    ({ parentUrl }) => [...ART, CHAIN].includes(parentUrl ?? ""),
  ],
  ["/feed/channels?channel_ids=none", () => false],
  [`/feed/parent_urls?parent_urls=${list(ART[0] ?? "")}`, ({ parentUrl }) => parentUrl === ART[0]],
  [
    `/feed/parent_urls?parent_urls=${list(CHAIN)}&parent_urls=${list(OTHER, CHAIN)}`,
    ({ parentUrl }) => parentUrl === CHAIN || parentUrl === OTHER,
  ],
  ["/feed/parent_urls?parent_urls=art", () => false],
  ["/feed/user/casts?fid=2", ({ fid }) => fid === 2],
  ["/feed/user/replies_and_recasts?fid=2", ({ fid, isReply }) => fid === 2 && isReply],
];

describe.each(feeds)("%s", (path, belongs) => {
  test("is newest first, ties by hash, and pages of any size concatenate to the whole, while casts are added and removed", async () => {
    const expected = feedOf(belongs);
    for (const limit of [1, 3, 100, 1_000_000_000]) {
      let n = 0;
      const found = await collectPages(path, limit, () => {
        n += 1;
        // Newer than every page after the first: it appears on none, and is removed before the next run.
        const late = post(2, 500 + n, {
          text: `late ${path} ${limit}`,
          parent: { $case: "parentUrl", value: CHAIN },
        });
        remove(late);
      });
      expect(found).toEqual(expected);
    }
  });

  test("runs the same few statements whatever the page size", async () => {
    for (const limit of [1, 10, 100]) {
      api.takeStatements();
      await api.get(`${path}&limit=${limit}`);
      expect(api.takeStatements().length).toBeLessThanOrEqual(13);
    }
  });
});

test("a removed cast is in no feed", async () => {
  const gone = post(3, 600, { text: "soon gone", parent: { $case: "parentUrl", value: OTHER } });
  const paths = [
    "/feed/following?fid=1",
    `/feed/parent_urls?parent_urls=${list(OTHER)}`,
    "/feed/user/casts?fid=3",
  ];
  for (const path of paths) expect((await collectPages(path, 100))[0]).toBe(gone.hash);
  remove(gone);
  for (const path of paths) expect(await collectPages(path, 100)).not.toContain(gone.hash);
});

describe("/feed/user/popular", () => {
  async function popular(query: string): Promise<Hash[]> {
    const { body } = await api.get(`/feed/user/popular?${query}`);
    expect(body.next).toEqual({ cursor: null });
    return (body.casts as { hash: Hash }[]).map(({ hash }) => hash);
  }

  const like = (by: number, target: { fid: number; hash: Hash }) =>
    expect(
      api.node.ingestMessage(
        reactionMessage(by, ReactionType.REACTION_TYPE_LIKE, { fid: target.fid, hash: target.hash }),
      ),
    ).toBe("ok");

  test("contains the live casts by the sum of likes, recasts and replies, then the newest others", async () => {
    const own = Array.from({ length: 13 }, (_, n) => post(5, 700 + n, { text: `five ${n}` }));
    const [a, b, c, d] = own as [Posted, Posted, Posted, Posted];
    for (const by of [1, 2, 3]) like(by, b);
    for (const by of [1, 2, 3, 4]) like(by, c);
    like(1, a);
    const recast = reactionMessage(2, ReactionType.REACTION_TYPE_RECAST, { fid: 5, hash: a.hash });
    expect(api.node.ingestMessage(recast)).toBe("ok");
    const parent = { $case: "parentCastId", value: { fid: 5, hash: bytesOf(d.hash) } } as const;
    post(1, 800, { text: "a reply", parent });
    // Likes of an unknown cast and of a wrong author have no effect.
    like(1, { fid: 5, hash: `0x${"ab".repeat(20)}` });
    like(1, { fid: 5, hash: posted[0]?.hash ?? "0x" });
    const rest = own
      .slice(4)
      .map(({ hash }) => hash)
      .toReversed();
    const expected = [c, b, a, d]
      .map(({ hash }) => hash)
      .concat(rest)
      .slice(0, 10);
    expect(await popular("fid=5")).toEqual(expected);
    expect(await popular("fid=5&limit=100")).toEqual(expected);
    expect(await popular("fid=5&limit=2")).toEqual(expected.slice(0, 2));
    remove(c);
    expect((await popular("fid=5"))[0]).toBe(b.hash);
    expect(await popular("fid=99")).toEqual([]);
  });

  test("finds the casts despite thousands of counts of unknown casts", async () => {
    const before = await popular("fid=5");
    api.node.db.sqlite.exec(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
       INSERT INTO cast_counts (id, fid, likes, recasts, replies) SELECT -1000 - i, 5, 100, 0, 0 FROM n`,
    );
    expect(await popular("fid=5")).toEqual(before);
  });
});

test("a missing or malformed parameter is 400 naming it", async () => {
  const many = Array.from({ length: 351 }, (_, n) => `c${n}`).join(",");
  for (const [path, name] of [
    ["/feed", "fid"],
    ["/feed?feed_type=following", "fid"],
    ["/feed?feed_type=other&fid=1", "feed_type"],
    ["/feed?fid=x", "fid"],
    ["/feed/following", "fid"],
    ["/feed/following?fid=-1", "fid"],
    ["/feed/following?fid=1&limit=0", "limit"],
    ["/feed/following?fid=1&limit=-1", "limit"],
    ["/feed/following?fid=1&cursor=garbage", "cursor"],
    ["/feed/channels", "channel_ids"],
    ["/feed/channels?channel_ids=,", "channel_ids"],
    [`/feed/channels?channel_ids=${many}`, "channel_ids"],
    ["/feed/channels?channel_ids=art&cursor=x", "cursor"],
    ["/feed/parent_urls", "parent_urls"],
    [`/feed/parent_urls?parent_urls=${many}`, "parent_urls"],
    ["/feed/parent_urls?parent_urls=a&limit=x", "limit"],
    ["/feed/user/casts", "fid"],
    ["/feed/user/popular", "fid"],
    ["/feed/user/popular?fid=1&limit=0", "limit"],
    ["/feed/user/replies_and_recasts", "fid"],
    ["/feed/user/replies_and_recasts?fid=1&cursor=x", "cursor"],
  ] as const) {
    const { status, body } = await api.get(path);
    expect({ path, status }).toEqual({ path, status: 400 });
    expect(body.message).toContain(name);
  }
});

test("the cursor of another feed is 400, and an fid above 32 or 53 bits follows no user", async () => {
  const { body } = await api.get("/feed/following?fid=1&limit=1");
  const { cursor } = body.next as { cursor: string };
  for (const path of ["/feed/trending?", "/feed/user/casts?fid=1&", "/feed/channels?channel_ids=art&"])
    expect((await api.get(`${path}cursor=${cursor}`)).status).toBe(400);
  for (const fid of [2n ** 32n + 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])
    expect((await api.get(`/feed/following?fid=${fid}`)).body).toEqual({ casts: [], next: { cursor: null } });
});
