import { expect, test } from "bun:test";
import { nearestOf } from "../../../src/lib/mistakes/nearest.ts";

const KINDS = ["cast.created", "cast.deleted", "follow.created", "user.updated"];

test.each([
  ["cast.createdd", "cast.created"],
  ["cast.craeted", "cast.created"],
  ["CAST.CREATED", "cast.created"],
  ["folow.created", "follow.created"],
  ["user.udpated", "user.updated"],
])("the word nearest to %p is %p", (word, nearest) => {
  expect(nearestOf(word, KINDS)).toBe(nearest);
});

test.each(["", "x", "reaction.created", "cast.updated", "cast", "a".repeat(50)])(
  "nothing is near to %p",
  (word) => {
    expect(nearestOf(word, KINDS)).toBeUndefined();
  },
);

test("the first of several words at the same distance is returned", () => {
  expect(nearestOf("bat", ["cat", "hat"])).toBe("cat");
});
