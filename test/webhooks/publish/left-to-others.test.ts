import { describe, expect, test } from "bun:test";
import { isLeftToOthers } from "../../../src/webhooks/publish/left-to-others.ts";

const DAY = 86_400;
const NOW = 100 * DAY;
const isLeft = (appliedAt: number, ownLiveSince: number | null, othersLiveSince: number | null) =>
  isLeftToOthers(appliedAt, { ownLiveSince, othersLiveSince }, NOW);

describe("while other nodes are alive, an event", () => {
  test("that was applied more than 6 days ago is left to them, whether or not they are live", () => {
    expect(isLeft(NOW - 6 * DAY - 1, 0, null)).toBe(true);
    expect(isLeft(NOW - 6 * DAY, 0, null)).toBe(false);
  });

  test("from before this node was live is left to one that was live a minute before it", () => {
    expect(isLeft(NOW - 10, NOW - 9, NOW - 70)).toBe(true);
    expect(isLeft(NOW - 10, NOW - 9, NOW - 69)).toBe(false);
    expect(isLeft(NOW - 10, NOW - 9, null)).toBe(false);
  });

  test("is published by a node that was live itself", () => {
    expect(isLeft(NOW - 10, NOW - 10, NOW - 1_000)).toBe(false);
  });

  test("is left to a live node while this one still fills", () => {
    expect(isLeft(NOW, null, NOW - 60)).toBe(true);
    expect(isLeft(NOW, null, null)).toBe(false);
  });
});
