import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { extractDates } from "../../../src/read/queries/search/cast-search.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Hash, type Posted, unixSecsAt } from "../../support/graph.ts";
import { readAllPages } from "../../support/read-all-pages.ts";

const ART = "https://warpcast.com/~/channel/art";

interface Shown {
  readonly hash: Hash;
  readonly direct_replies: Shown[];
}

let api: TestApi;
let graph: Graph;
let root: Posted;
let middle: Posted;
let deep: Posted;
let direct: Posted[];

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  graph = createGraph(api.node);
  for (const fid of [1, 2, 3]) graph.account(fid);
  root = graph.post(1, 100, { text: "bread at the start", parent: { $case: "parentUrl", value: ART } });
  middle = graph.reply(2, 110, root, "bread in the middle");
  deep = graph.reply(1, 120, middle, "bread deep below");
  direct = [middle, ...[130, 140, 150, 160].map((at) => graph.reply(3, at, root, `bread reply ${at}`))];
  graph.like(1, 200, direct[2] as Posted);
  graph.recast(2, 201, direct[2] as Posted);
  graph.like(1, 202, direct[4] as Posted);
  for (const at of [170, 180]) graph.reply(1, at, direct[1] as Posted, `bread below ${at}`);
});

afterAll(() => api[Symbol.asyncDispose]());

const conversationPath = (hash: Hash, more = "") =>
  `/v2/farcaster/cast/conversation?identifier=${hash}&type=hash${more}`;

async function conversation(hash: Hash, more = "") {
  const { status, body } = await api.get(conversationPath(hash, more));
  expect(status).toBe(200);
  const { conversation, next } = body as {
    conversation: { cast: Shown; chronological_parent_casts?: Shown[] };
    next: { cursor: string | null };
  };
  return { cast: conversation.cast, parents: conversation.chronological_parent_casts, cursor: next.cursor };
}

const hashes = (casts: readonly { hash: Hash }[]) => casts.map(({ hash }) => hash);

describe("/cast/conversation", () => {
  test("contains the replies to the requested depth, oldest first", async () => {
    const { cast, parents } = await conversation(root.hash);
    expect(cast.hash).toBe(root.hash);
    expect(parents).toBeUndefined();
    expect(hashes(cast.direct_replies)).toEqual(hashes(direct));
    expect(hashes(cast.direct_replies[0]?.direct_replies ?? [])).toEqual([deep.hash]);
    const shallow = await conversation(root.hash, "&reply_depth=1");
    expect(shallow.cast.direct_replies.map((reply) => reply.direct_replies)).toEqual(direct.map(() => []));
    expect((await conversation(root.hash, "&reply_depth=0")).cast.direct_replies).toEqual([]);
  });

  test.each([
    ["chron", () => direct],
    ["desc_chron", () => direct.toReversed()],
    // Three for each reply, two for a recast, one for a like; ties by newest.
    ["algorithmic", () => [1, 2, 0, 4, 3].map((at) => direct[at] as Posted)],
  ])("sorted by %s, pages of any size join to the whole", async (sort, expected) => {
    // direct[1] has two replies (6), direct[2] a like and a recast (3), direct[0] one reply (3), direct[4] a like.
    for (const limit of [1, 2, 5, 50]) {
      const found: Hash[] = [];
      let cursor: string | null = null;
      do {
        const more: string = cursor === null ? "" : `&cursor=${cursor}`;
        const page = await conversation(root.hash, `&sort_type=${sort}&limit=${limit}${more}`);
        found.push(...hashes(page.cast.direct_replies));
        ({ cursor } = page);
      } while (cursor !== null);
      expect({ limit, found }).toEqual({ limit, found: hashes(expected()) });
    }
  });

  test("uses the same order below the first level", async () => {
    const { cast } = await conversation(root.hash, "&sort_type=desc_chron");
    const below = cast.direct_replies.find(({ hash }) => hash === direct[1]?.hash)?.direct_replies ?? [];
    const oldestFirst = await conversation(direct[1]?.hash ?? "0x");
    expect(hashes(below)).toEqual(hashes(oldestFirst.cast.direct_replies).toReversed());
  });

  test("contains the ancestors from the root down, and stops at a missing one", async () => {
    const more = "&include_chronological_parent_casts=true";
    expect(hashes((await conversation(deep.hash, more)).parents ?? [])).toEqual([root.hash, middle.hash]);
    expect((await conversation(root.hash, more)).parents).toEqual([]);
    const gone = graph.reply(2, 300, root);
    const orphan = graph.reply(1, 310, gone);
    graph.remove(gone);
    expect((await conversation(orphan.hash, more)).parents).toEqual([]);
  });

  test("of an unknown cast is 404, and a cursor of another order is 400", async () => {
    expect((await api.get(conversationPath(`0x${"ab".repeat(20)}`))).status).toBe(404);
    const { cursor } = await conversation(root.hash, "&limit=1");
    const other = await api.get(conversationPath(root.hash, `&sort_type=desc_chron&cursor=${cursor}`));
    expect(other.status).toBe(400);
  });
});

describe("/cast/search", () => {
  const search = async (query: string, limit = 2) =>
    hashes(await readAllPages<{ hash: Hash }>(api, `/v2/farcaster/cast/search?${query}`, "casts", limit));

  test("is ordered by time in both directions, and its page is under `result`", async () => {
    const newest = await search("q=bread");
    expect(newest.length).toBeGreaterThan(5);
    expect(await search("q=bread", 100)).toEqual(newest);
    expect(await search("q=bread&sort_type=chron")).toEqual(newest.toReversed());
    const { body } = await api.get("/v2/farcaster/cast/search?q=bread&limit=3");
    expect(body).toEqual({
      result: { casts: expect.any(Array), next: { cursor: expect.any(String) } },
    });
  });

  test("filters by author, channel, URL, and by all of them together", async () => {
    expect(await search("q=bread&author_fid=2")).toEqual([middle.hash]);
    expect(await search("q=bread&channel_id=art")).toEqual([root.hash]);
    expect(await search(`q=bread&parent_url=${encodeURIComponent(ART)}`)).toEqual([root.hash]);
    expect(await search("q=bread&channel_id=art&author_fid=2")).toEqual([]);
    expect(await search(`q=bread&channel_id=books&parent_url=${encodeURIComponent(ART)}`)).toEqual([]);
  });

  test("filters by the dates in the text; the second itself is after and not before", async () => {
    const at = (seconds: number) => new Date(unixSecsAt(seconds) * 1000).toISOString().slice(0, 19);
    const dated = (text: string) => search(`q=${encodeURIComponent(text)}`);
    expect(await dated(`bread before:${at(110)}`)).toEqual([root.hash]);
    expect(await dated(`after:${at(110)} bread before:${at(121)}`)).toEqual([deep.hash, middle.hash]);
    expect(await dated(`bread after:${at(100_000)}`)).toEqual([]);
  });

  test("a page runs a bounded number of statements", async () => {
    for (const limit of [1, 100]) {
      api.takeStatements();
      await api.get(
        `/v2/farcaster/cast/search?q=bread&author_fid=3&channel_id=art&limit=${limit}&viewer_fid=1`,
      );
      expect(api.takeStatements().length).toBeLessThanOrEqual(14);
    }
  });
});

describe("dates in a text", () => {
  test("are removed, the narrowest applies, and an invalid date remains a word", () => {
    expect(extractDates("a before:2025-04-20 b")).toMatchObject({
      text: "a   b",
      from: 0,
      until: 1_745_107_200,
    });
    expect(extractDates("after:2025-04-20T00:00:01 after:2025-04-19")).toMatchObject({ from: 1_745_107_201 });
    expect(extractDates("Before:2025-04-20Z")).toMatchObject({ until: 1_745_107_200 });
    for (const text of ["before:2025-13-01", "before:", "xbefore:2025-04-20", "after:1960-01-01"])
      expect(extractDates(text)).toMatchObject({ text, from: 0 });
  });

  test("never throw and never form a range outside the range of a cast's id", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.date({ noInvalidDate: true }), (text, date) => {
        const requested = `${text} after:${date.toISOString().slice(0, 19)} before:${date.toISOString().slice(0, 10)}`;
        const { from, until } = extractDates(requested);
        expect(Number.isSafeInteger(from * 2 ** 20) && Number.isSafeInteger(until * 2 ** 20)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

test("/casts returns casts in the requested order, or sorted", async () => {
  const [a, b, c] = [direct[3], direct[4], direct[2]] as [Posted, Posted, Posted];
  const sorted = async (more: string) => {
    const { body } = await api.get(`/v2/farcaster/casts?casts=${hashes([a, b, c])}${more}`);
    const { result } = body as { result: { casts: { hash: Hash }[] } };
    return hashes(result.casts);
  };
  expect(await sorted("")).toEqual(hashes([a, b, c]));
  expect(await sorted("&sort_type=trending")).toEqual(hashes([c, b, a]));
  expect(await sorted("&sort_type=likes")).toEqual(hashes([b, c, a]));
  expect(await sorted("&sort_type=recasts")).toEqual(hashes([c, a, b]));
  expect(await sorted("&sort_type=recent")).toEqual(hashes([b, a, c]));
});

test("an embed contains the quoted cast with references to its own quotes, and a URL if the cast was removed", async () => {
  const first = graph.post(1, 400, { text: "first" });
  const second = graph.quote(2, 410, first);
  const third = graph.quote(3, 420, second);
  const shown = async () => {
    const { body } = await api.get(`/v2/farcaster/cast?identifier=${third.hash}&type=hash`);
    return (body.cast as { embeds: unknown[] }).embeds;
  };
  expect(await shown()).toMatchObject([
    {
      cast_id: { fid: 2, hash: second.hash },
      cast: {
        hash: second.hash,
        author: { object: "user_dehydrated", fid: 2 },
      },
    },
  ]);
  const { body } = await api.get(`/v2/farcaster/cast/quotes?identifier=${first.hash}&type=hash`);
  expect(hashes(body.casts as { hash: Hash }[])).toEqual([second.hash]);
  graph.remove(second);
  expect(await shown()).toEqual([{ url: `https://farcaster.xyz/~/conversations/${second.hash}` }]);
});
