import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Cast, User } from "../../../../src/console/web/data/call.ts";
import {
  authorsByFollowers,
  type Conversation,
  editDistance,
  nearestNames,
  nearPrefix,
  threadRows,
} from "../../../../src/console/web/explore/lists.ts";

const cast = (author: Partial<User>) => ({ author }) as Cast;

test("authors by followers: each once, the most followed first, then by fid", () => {
  const authors = [
    { fid: 1, follower_count: 5 },
    { fid: 3, follower_count: 9 },
    { fid: 2, follower_count: 5 },
    { fid: 1, follower_count: 5 },
  ];
  expect(authorsByFollowers(authors.map(cast), 3).map(({ fid }) => fid)).toEqual([3, 1, 2]);
  expect(authorsByFollowers(authors.map(cast), 1).map(({ fid }) => fid)).toEqual([3]);
});

describe("nearest names", () => {
  const short = fc.string({ unit: fc.constantFrom(..."abc"), maxLength: 6 });

  test("edit distance is a metric", () => {
    fc.assert(
      fc.property(short, short, short, (a, b, c) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
        expect(editDistance(a, c)).toBeLessThanOrEqual(editDistance(a, b) + editDistance(b, c));
      }),
    );
  });

  test("are those with the fewest edits; the search uses the start of the name", () => {
    const users = ["mirabel", "mirawren", "miranda", "mira"].map((username) => ({ username }));
    expect(nearestNames("mirawrenn", users, 2).map(({ username }) => username)).toEqual([
      "mirawren",
      "mirabel",
    ]);
    expect(nearPrefix("mirawrenn")).toBe("mirawr");
    expect(nearPrefix("m")).toBe("m");
  });
});

describe("threadRows", () => {
  const node = (hash: string, count: number, replies: Conversation[] = []): Conversation => ({
    cast: { hash, replies: { count } } as Cast,
    replies,
  });

  test("has each reply before those below it, with its depth and how many it hides", () => {
    const thread = node("root", 5, [node("a", 3, [node("aa", 1)]), node("b", 0)]);
    expect(threadRows(thread).map(({ cast, depth, hidden }) => [cast.hash, depth, hidden])).toEqual([
      ["a", 1, 2],
      ["aa", 2, 1],
      ["b", 1, 0],
    ]);
  });
});
