import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type CastAddBody,
  type DeepPartial,
  MessageType,
} from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { hashOf } from "../support/social.ts";

type Hash = `0x${string}`;

interface Tree {
  cast: { hash: Hash; replies: { count: number }; timestamp: number };
  replies: Tree[];
}

let api: TestApi;

const UNKNOWN = `0x${"0".repeat(40)}` as const;

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2, 3]) api.node.ingestAll(accountRecords(fid, 10));
});

afterAll(() => api[Symbol.asyncDispose]());

/** Posts a cast and returns its hash; `at`: seconds after the default time. */
function post(fid: number, at: number, body: DeepPartial<CastAddBody>): Hash {
  const message = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_CAST_ADD,
      fid,
      timestamp: DEFAULT_TIMESTAMP - 10_000 + at,
      body: { $case: "castAddBody", value: body },
    },
    accountSigner(fid),
  );
  expect(api.node.ingestMessage(message)).toBe("ok");
  return hashOf(message);
}

function remove(fid: number, hash: Hash): void {
  const value = { targetHash: bytesOf(hash) };
  const data = {
    type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
    fid,
    body: { $case: "castRemoveBody", value },
  } as const;
  expect(api.node.ingestMessage(signMessage(data, accountSigner(fid)))).toBe("ok");
}

const bytesOf = (hash: Hash) => Buffer.from(hash.slice(2), "hex");

const reply = (fid: number, at: number, to: { fid: number; hash: Hash }, text = "re") =>
  post(fid, at, {
    text: `${text} ${at}`,
    parent: { $case: "parentCastId", value: { fid: to.fid, hash: bytesOf(to.hash) } },
  });

async function conversation(hash: Hash, more = ""): Promise<Tree> {
  const { status, body } = await api.get(`/cast/conversation?identifier=${hash}&type=hash${more}`);
  expect(status).toBe(200);
  return body as unknown as Tree;
}

/** The hashes of a tree as nested lists. */
type Shape = [Hash, Shape[]];
const shapeOf = ({ cast, replies }: Tree): Shape => [cast.hash, replies.map(shapeOf)];

describe("/cast/conversation", () => {
  test("is a tree, oldest first, of the requested depth, with true counts at the last level", async () => {
    const root = post(1, 0, { text: "root" });
    const late = reply(2, 20, { fid: 1, hash: root });
    const early = reply(3, 10, { fid: 1, hash: root });
    const chain: Hash[] = [early];
    for (let level = 1; level < 6; level++)
      chain.push(reply(1, 20 + level, { fid: level === 1 ? 3 : 1, hash: chain[level - 1] ?? UNKNOWN }));
    // A reply to this hash under another author is a reply to another cast.
    reply(2, 30, { fid: 2, hash: root });
    const chainTo = (depth: number): Shape[] =>
      depth === 0
        ? []
        : [chain.slice(0, depth).reduceRight<Shape[]>((below, hash) => [[hash, below]], [])[0] as Shape];
    for (const depth of [0, 1, 2, 3, 5]) {
      const tree = await conversation(root, `&reply_depth=${depth}`);
      expect(shapeOf(tree)).toEqual([root, depth === 0 ? [] : [...chainTo(depth), [late, []]]]);
      expect(tree.cast.replies.count).toBe(2);
    }
    expect(shapeOf(await conversation(root))).toEqual(shapeOf(await conversation(root, "&reply_depth=2")));
    const shallow = await conversation(root, "&reply_depth=1");
    expect(shallow.replies[0]?.cast.replies.count).toBe(1);
    const byUrl = await api.get(
      `/cast/conversation?type=url&identifier=${encodeURIComponent(`https://farcaster.xyz/!1/${root.slice(0, 12)}`)}`,
    );
    expect(shapeOf(byUrl.body as unknown as Tree)).toEqual(shapeOf(await conversation(root)));
    remove(3, early);
    expect(shapeOf(await conversation(root, "&reply_depth=5"))).toEqual([root, [[late, []]]]);
  });

  test("contains the 50 oldest replies to a cast and 500 in total, with a bounded number of statements", async () => {
    const root = post(1, 100, { text: "busy" });
    const direct = Array.from({ length: 55 }, (_, n) => reply(2, 101 + n, { fid: 1, hash: root }, "direct"));
    const tree = await conversation(root, "&reply_depth=1");
    expect(tree.replies.map(({ cast }) => cast.hash)).toEqual(direct.slice(0, 50));
    expect(tree.cast.replies.count).toBe(55);
    direct.slice(0, 20).forEach((hash, n) => {
      for (let k = 0; k < 30; k++) reply(3, 300 + n * 30 + k, { fid: 2, hash }, "below");
    });
    api.takeStatements();
    const deep = await conversation(root, "&reply_depth=5");
    const statements = api.takeStatements();
    const below = deep.replies.map(({ replies }) => replies.length);
    expect(below.reduce((sum, n) => sum + n, 50)).toBe(500);
    expect(below).toEqual([...Array<number>(15).fill(30), ...Array<number>(35).fill(0)]);
    expect(deep.replies.every(({ cast }, n) => cast.replies.count === (n < 20 ? 30 : 0))).toBe(true);
    // Ten slices of casts, each in a few statements.
    expect(statements.length).toBeLessThan(40);
  });

  test("of an unknown cast is 404; a missing or malformed parameter is 400 naming it", async () => {
    expect((await api.get(`/cast/conversation?identifier=${UNKNOWN}&type=hash`)).status).toBe(404);
    const gone = post(1, 5000, { text: "gone" });
    reply(2, 5001, { fid: 1, hash: gone });
    remove(1, gone);
    expect((await api.get(`/cast/conversation?identifier=${gone}&type=hash`)).status).toBe(404);
    for (const [query, name] of [
      ["type=hash", "identifier"],
      [`identifier=${UNKNOWN}`, "type"],
      [`identifier=${UNKNOWN}&type=other`, "type"],
      ["identifier=0x12&type=hash", "identifier"],
      [`identifier=${UNKNOWN}&type=url`, "identifier"],
      [`identifier=${UNKNOWN}&type=hash&reply_depth=6`, "reply_depth"],
      [`identifier=${UNKNOWN}&type=hash&reply_depth=-1`, "reply_depth"],
      [`identifier=${UNKNOWN}&type=hash&reply_depth=x`, "reply_depth"],
    ] as const) {
      const { status, body } = await api.get(`/cast/conversation?${query}`);
      expect({ query, status }).toEqual({ query, status: 400 });
      expect(body.message).toContain(name);
    }
  });
});

describe("/cast/quotes", () => {
  test("lists live quotes of the live cast by its author and hash, newest first, at any page size", async () => {
    const quoted = post(1, 6000, { text: "quoted" });
    const quote = (fid: number, at: number, { author = 1, text = "" } = {}) =>
      post(fid, at, {
        text: `look ${at}${text}`,
        embeds: [{ embed: { $case: "castId", value: { fid: author, hash: bytesOf(quoted) } } }],
      });
    const quotes = Array.from({ length: 7 }, (_, n) => {
      const at = 6001 + (n >> 1);
      return { at, hash: quote(2, at, { text: ` ${n}` }) };
    });
    // It has another author, and therefore matches no cast.
    quote(3, 6100, { author: 2 });
    const other = quote(3, 6050);
    const expected = quotes
      .toSorted((a, b) => b.at - a.at || (a.hash < b.hash ? 1 : -1))
      .map(({ hash }) => hash);
    const path = `/cast/quotes?identifier=${quoted}&type=hash`;
    for (const limit of [1, 3, 100]) {
      let late = 0;
      const found = await readAllPages<{ hash: Hash }>(api, path, "casts", limit, () => {
        late += 1;
        remove(2, quote(2, 6500 + late + limit * 10));
      });
      expect(found.map(({ hash }) => hash)).toEqual([other, ...expected]);
    }
    remove(3, other);
    expect((await api.get(path)).body.casts).toHaveLength(7);
    remove(1, quoted);
    expect((await api.get(path)).body).toEqual({ casts: [], next: { cursor: null } });
  });

  test("of an unknown cast is empty; a malformed parameter is 400 naming it", async () => {
    expect((await api.get(`/cast/quotes?identifier=${UNKNOWN}`)).body).toEqual({
      casts: [],
      next: { cursor: null },
    });
    for (const [query, name] of [
      ["", "identifier"],
      ["identifier=https://farcaster.xyz/a/0x12345678", "identifier"],
      [`identifier=${UNKNOWN}&type=url`, "type"],
      [`identifier=${UNKNOWN}&limit=0`, "limit"],
      [`identifier=${UNKNOWN}&cursor=zz`, "cursor"],
    ] as const) {
      const { status, body } = await api.get(`/cast/quotes?${query}`);
      expect({ query, status }).toEqual({ query, status: 400 });
      expect(body.message).toContain(name);
    }
  });
});

describe("routes without protocol data", () => {
  test("have a fixed response and validate their parameters", async () => {
    for (const query of ["q=gm", "q=gm&interval=180d&author_fid=1&channel_id=art"])
      expect((await api.get(`/cast/metrics?${query}`)).body).toEqual({ metrics: [], next: { cursor: null } });
    for (const [query, name] of [
      ["", "q"],
      ["q=gm&interval=2d", "interval"],
      ["q=gm&author_fid=x", "author_fid"],
    ] as const) {
      const { status, body } = await api.get(`/cast/metrics?${query}`);
      expect({ query, status }).toEqual({ query, status: 400 });
      expect(body.message).toContain(name);
    }
    expect((await api.get("/cast/conversation/summary")).body).toEqual({
      summary: "Conversation summaries are not available.",
    });
    expect((await api.get("/cast/embed/crawl")).body).toEqual({ metadata: null });
  });
});
