import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { linkMessage } from "../support/social.ts";

let api: TestApi;

const FOLLOWERS = Array.from({ length: 12 }, (_, n) => 2 + n);
const at = (secs: number) => ({ at: DEFAULT_TIMESTAMP - 10_000 + secs });
const take = (bytes: Uint8Array) => expect(api.node.ingestMessage(bytes)).toBe("ok");

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, ...FOLLOWERS, 20, 21, 22, 23]) api.node.ingestAll(accountRecords(fid));
  // Two followers share each second, so that ties occur.
  for (const fid of FOLLOWERS) take(linkMessage(fid, "follow", 1, at(fid >> 1)));
  for (const fid of FOLLOWERS) take(linkMessage(1, "follow", fid, at(100 + (fid >> 1))));
  // 777 is not registered.
  take(linkMessage(1, "follow", 777, at(500)));
});

afterAll(() => api[Symbol.asyncDispose]());

const walk = async (path: string, limit: number, between?: (page: number) => void) =>
  (await readAllPages<{ fid: number }>(api, path, "users", limit, between)).map(({ fid }) => fid);

const newestFirst = FOLLOWERS.toSorted((a, b) => (b >> 1) - (a >> 1) || b - a);

const PAGED = [
  "/user/followers",
  "/followers",
  "/followers/relevant",
  "/user/following",
  "/following",
  "/follows",
  "/followers/reciprocal",
  "/following/suggested",
];

test("a missing or malformed parameter is 400 naming it; an unknown fid has an empty list", async () => {
  for (const path of PAGED) {
    for (const [query, name] of [
      ["", "fid"],
      ["?fid=x", "fid"],
      ["?fid=1&fid=2", "fid"],
      ["?fid=1&limit=0", "limit"],
      ["?fid=1&limit=-1", "limit"],
      ["?fid=1&cursor=garbage", "cursor"],
    ] as const) {
      const { status, body } = await api.get(path + query);
      expect({ path, query, status }).toEqual({ path, query, status: 400 });
      expect(body.message).toContain(name);
    }
    for (const fid of [99_999, 2n ** 32n + 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])
      expect((await api.get(`${path}?fid=${fid}`)).body).toEqual({ users: [], next: { cursor: null } });
  }
});

describe("followers and following", () => {
  test("pages of any size concatenate to the list under every name, newest first, without unknown users", async () => {
    for (const path of PAGED.slice(0, 7)) {
      for (const limit of [1, 3, 100, 1_000_000_000])
        expect(await walk(`${path}?fid=1`, Math.min(limit, 100))).toEqual(newestFirst);
    }
    expect((await api.get("/followers?fid=1&limit=1000000000")).status).toBe(200);
  });

  test("rejects a cursor of another list", async () => {
    const { body } = await api.get("/user/followers?fid=1&limit=1");
    const { cursor } = body.next as { cursor: string };
    for (const path of ["/user/following", "/followers/reciprocal", "/following/suggested", "/block/list"])
      expect((await api.get(`${path}?fid=1&cursor=${cursor}`)).status).toBe(400);
  });

  test("a user who remains in the list is returned once while others are added and removed", async () => {
    const gone = newestFirst[7] ?? 0;
    const walked = await walk("/user/followers?fid=1", 3, (page) => {
      if (page === 0) take(linkMessage(20, "follow", 1, at(900)));
      if (page === 1) take(linkMessage(gone, "follow", 1, { remove: true, ...at(1000) }));
    });
    expect(walked).toEqual(newestFirst.filter((fid) => fid !== gone));
    expect((await walk("/user/followers?fid=1", 100))[0]).toBe(20);
    expect(await walk("/followers/reciprocal?fid=1", 100)).toEqual(newestFirst.filter((fid) => fid !== gone));
  });

  test("a page runs the same few statements whatever its size", async () => {
    for (const path of PAGED.slice(0, 7)) {
      const counts = new Set<number>();
      for (const limit of [1, 5, 100]) {
        api.takeStatements();
        await api.get(`${path}?fid=1&limit=${limit}`);
        counts.add(api.takeStatements().length);
      }
      expect([...counts]).toEqual([5]);
    }
  });
});

describe("/following/suggested", () => {
  test("is ordered by overlap, then followers, then fid, without the user, followed, blocked, muted and unknown users", async () => {
    const [a, b, c] = [21, 22, 23];
    // 20 follows 2, 3 and 4, which follow candidates.
    for (const fid of [2, 3, 4]) take(linkMessage(20, "follow", fid, at(2000)));
    for (const fid of [2, 3, 4]) take(linkMessage(fid, "follow", b, at(2000)));
    for (const fid of [2, 3]) take(linkMessage(fid, "follow", a, at(2000)));
    for (const fid of [2, 4]) take(linkMessage(fid, "follow", c, at(2000)));
    take(linkMessage(5, "follow", c, at(2000)));
    for (const fid of [6, 7, 8]) take(linkMessage(2, "follow", fid, at(2000)));
    for (const fid of [2, 3, 4]) take(linkMessage(fid, "follow", 777, at(2000)));
    for (const fid of [2, 3, 4]) take(linkMessage(fid, "follow", 20, at(2000)));
    take(linkMessage(20, "block", 6, at(2000)));
    take(linkMessage(20, "mute", 7, at(2000)));
    // 20 follows 1 too, who follows 2 to 13.
    const expected = [b, c, 8, a, 5, 9, 10, 11, 12, 13];
    for (const limit of [1, 2, 3, 100])
      expect(await walk("/following/suggested?fid=20", limit)).toEqual(expected);
    take(linkMessage(20, "follow", 1, { remove: true, ...at(3000) }));
    expect(await walk("/following/suggested?fid=20", 2)).toEqual([1, b, c, a, 8]);
  });

  test("runs the same few statements whatever it counts", async () => {
    const counts = new Set<number>();
    for (const fid of [1, 20, 99_999]) {
      api.takeStatements();
      await api.get(`/following/suggested?fid=${fid}`);
      counts.add(api.takeStatements().length);
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(7);
  });
});
