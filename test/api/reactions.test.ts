import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP, signedCast, signMessage } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { hashOf, reactionMessage } from "../support/social.ts";

let api: TestApi;

const { REACTION_TYPE_LIKE: LIKE, REACTION_TYPE_RECAST: RECAST } = ReactionType;
const PEOPLE = [2, 3, 4, 5, 6, 7, 8];
const casts = [0, 1, 2, 3, 4].map((n) => signedCast(1, `cast ${n}`, accountSigner(1)));
const [target = "0x", second = "0x", doomed = "0x"] = casts.map(hashOf);

interface Item {
  reaction_type: string;
  user: { fid: number };
  cast: { hash: string };
  timestamp: number;
}

const take = (bytes: Uint8Array) => expect(api.node.ingestMessage(bytes)).toBe("ok");
const react = (
  fid: number,
  type: ReactionType,
  hash: `0x${string}`,
  over: { at?: number; author?: number; remove?: boolean } = {},
) => {
  const { author = 1, ...options } = over;
  take(reactionMessage(fid, type, { fid: author, hash }, options));
};

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, ...PEOPLE]) api.node.ingestAll(accountRecords(fid));
  for (const cast of casts) take(cast);
  for (const fid of PEOPLE) react(fid, LIKE, target, { at: DEFAULT_TIMESTAMP + (fid >> 1) });
  react(2, RECAST, target);
  react(8, RECAST, target, { at: DEFAULT_TIMESTAMP + 50 });
  for (const [n, cast] of casts.entries())
    react(3, RECAST, hashOf(cast), { at: DEFAULT_TIMESTAMP + (n >> 1) });
  react(3, LIKE, second, { at: DEFAULT_TIMESTAMP + 70 });
  react(3, LIKE, doomed, { at: DEFAULT_TIMESTAMP + 80 });
  // A wrong author, and an unknown cast.
  react(3, LIKE, second, { at: DEFAULT_TIMESTAMP + 90, author: 2 });
  react(3, LIKE, `0x${"55".repeat(20)}`, { at: DEFAULT_TIMESTAMP + 91 });
  react(4, LIKE, target, { author: 2, at: DEFAULT_TIMESTAMP + 92 });
  take(
    signMessage(
      {
        fid: 1,
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        timestamp: DEFAULT_TIMESTAMP + 100,
        body: { $case: "castRemoveBody", value: { targetHash: Buffer.from(doomed.slice(2), "hex") } },
      },
      accountSigner(1),
    ),
  );
});

afterAll(() => api[Symbol.asyncDispose]());

const CAST_PATHS = ["/reaction", "/reaction/cast", "/reactions/cast"];
const USER_PATHS = ["/reaction", "/reaction/user", "/reactions/user"];
const likers = PEOPLE.toSorted((a, b) => (b >> 1) - (a >> 1) || b - a);

test("a missing or malformed parameter is 400 naming it", async () => {
  for (const [path, name] of [
    ["/reaction", "fid"],
    ["/reaction?hash=0x12", "hash"],
    [`/reaction?hash=${target}&types=like`, "types"],
    [`/reaction/cast?hash=${target}&types=likes,x`, "types"],
    ["/reaction?fid=1&type=all", "type"],
    ["/reaction/cast", "hash"],
    ["/reactions/cast?hash=xyz", "hash"],
    [`/reaction/cast?hash=${target}&fid=x`, "fid"],
    [`/reaction/cast?hash=${target}&limit=0`, "limit"],
    [`/reaction/cast?hash=${target}&cursor=garbage`, "cursor"],
    ["/reaction/user", "fid"],
    ["/reactions/user?fid=1&type=x", "type"],
    ["/reaction/user?fid=1&limit=-1", "limit"],
    ["/reaction/user?fid=1&cursor=garbage", "cursor"],
  ] as const) {
    const { status, body } = await api.get(path);
    expect({ path, status }).toEqual({ path, status: 400 });
    expect(body.message).toContain(name);
  }
});

describe("reactions on a cast", () => {
  test("are newest first in pages of any size, likes by default, each with its user and the cast", async () => {
    for (const path of CAST_PATHS) {
      for (const limit of [1, 3, 100]) {
        const items = await readAllPages<Item>(api, `${path}?hash=${target}`, "reactions", limit);
        expect(items.map(({ user }) => user.fid)).toEqual(likers);
        expect(new Set(items.map(({ reaction_type, cast }) => `${reaction_type} ${cast.hash}`))).toEqual(
          new Set([`like ${target}`]),
        );
      }
      const upper = target.toUpperCase().replace("0X", "0x");
      const recasts = await readAllPages<Item>(api, `${path}?hash=${upper}&types=recasts`, "reactions", 1);
      expect(recasts.map(({ user, reaction_type }) => [user.fid, reaction_type])).toEqual([
        [8, "recast"],
        [3, "recast"],
        [2, "recast"],
      ]);
    }
  });

  test("`types` is a list: likes and recasts are merged, newest first, in pages of any size", async () => {
    const both = new Set([...likers.map((fid) => `like ${fid}`), "recast 8", "recast 3", "recast 2"]);
    for (const path of CAST_PATHS) {
      const walked: string[][] = [];
      for (const types of [
        "types=likes,recasts",
        "types=recasts&types=likes",
        "types=likes%2Crecasts,,&types=likes",
      ]) {
        for (const limit of [1, 4, 100]) {
          const items = await readAllPages<Item>(api, `${path}?hash=${target}&${types}`, "reactions", limit);
          walked.push(items.map(({ user, reaction_type }) => `${reaction_type} ${user.fid}`));
          expect(items.map(({ timestamp }) => timestamp)).toEqual(
            items.map(({ timestamp }) => timestamp).toSorted((a, b) => b - a),
          );
        }
      }
      expect(new Set(walked[0])).toEqual(both);
      expect(walked[0]).toHaveLength(both.size);
      for (const walk of walked) expect(walk).toEqual(walked[0] ?? []);
    }
    const wrongAuthor = await api.get(`/reaction/cast?hash=${target}&types=likes,recasts&fid=2`);
    expect(wrongAuthor.body.reactions).toEqual([]);
    const { body } = await api.get(`/reaction/cast?hash=${target}&types=likes,recasts&limit=1`);
    const { cursor } = body.next as { cursor: string };
    expect((await api.get(`/reaction/cast?hash=${target}&types=likes&cursor=${cursor}`)).status).toBe(400);
  });

  test("are empty for a removed or unknown cast, and for a wrong author", async () => {
    const nothing = { reactions: [], next: { cursor: null } };
    for (const query of [
      `hash=${doomed}`,
      `hash=0x${"55".repeat(20)}`,
      `hash=${target}&fid=2`,
      `hash=${target}&fid=${2n ** 32n + 1n}`,
    ])
      expect((await api.get(`/reaction/cast?${query}`)).body).toEqual(nothing);
    const { body } = await api.get(`/reaction/cast?hash=${target}&fid=1&limit=100`);
    expect(body.reactions).toHaveLength(likers.length);
  });

  test("rejects a cursor of likes for recasts and for a user's reactions", async () => {
    const { body } = await api.get(`/reaction/cast?hash=${target}&limit=1`);
    const { cursor } = body.next as { cursor: string };
    for (const path of [
      `/reaction/cast?hash=${target}&types=recasts`,
      "/reaction/user?fid=3",
      "/reaction?fid=3",
    ])
      expect((await api.get(`${path}&cursor=${cursor}`)).status).toBe(400);
  });

  test("a reaction that remains in the list is returned once", async () => {
    const gone = likers[4] ?? 0;
    const items = await readAllPages<Item>(api, `/reaction/cast?hash=${target}`, "reactions", 2, (page) => {
      if (page !== 0) return;
      react(1, LIKE, target, { at: DEFAULT_TIMESTAMP + 200 });
      react(gone, LIKE, target, { at: DEFAULT_TIMESTAMP + 201, remove: true });
    });
    expect(items.map(({ user }) => user.fid)).toEqual(likers.filter((fid) => fid !== gone));
  });
});

describe("reactions of a user", () => {
  test("include only those on live casts of their true author, newest first, in pages of any size", async () => {
    const live = casts.map(hashOf).filter((hash) => hash !== doomed);
    for (const path of USER_PATHS) {
      const likes = await readAllPages<Item>(api, `${path}?fid=3`, "reactions", 1);
      expect(
        likes.map(({ cast, timestamp, reaction_type }) => [reaction_type, cast.hash, timestamp]),
      ).toEqual([
        ["like", second, 1_609_459_200 + DEFAULT_TIMESTAMP + 70],
        ["like", target, 1_609_459_200 + DEFAULT_TIMESTAMP + 1],
      ]);
      const whole = await readAllPages<Item>(api, `${path}?fid=3&type=recasts`, "reactions", 100);
      expect(whole.map(({ cast }) => cast.hash).toSorted()).toEqual(live.toSorted());
      const times = whole.map(({ timestamp }) => timestamp);
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      for (const limit of [1, 2, 3])
        expect(await readAllPages<Item>(api, `${path}?fid=3&type=recasts`, "reactions", limit)).toEqual(
          whole,
        );
    }
  });

  test("are empty for an unknown fid", async () => {
    for (const fid of [999, 2n ** 32n + 3n, 2n ** 53n + 1n])
      expect((await api.get(`/reaction/user?fid=${fid}`)).body).toEqual({
        reactions: [],
        next: { cursor: null },
      });
  });
});

test("a page runs a few statements whatever its size", async () => {
  for (const path of [`/reaction/cast?hash=${target}`, "/reaction/user?fid=3&type=recasts"]) {
    const counts = new Set<number>();
    for (const limit of [1, 3, 100]) {
      api.takeStatements();
      await api.get(`${path}&limit=${limit}`);
      counts.add(api.takeStatements().length);
    }
    // More for reactions of one second at the end of a page, and for the hash in its cursor.
    expect(Math.max(...counts)).toBeLessThanOrEqual(11);
  }
});
