import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimSource, isFollowing, markDemo, mayLackState } from "../../../src/db/index/identity.ts";
import { UserError } from "../../../src/lib/failure.ts";
import { accountRecords, startTestNode } from "../../support/node.ts";

test("an index that follows does so for good", () => {
  using db = openIndexInMemory();
  claimSource(db, { follows: false });
  expect(isFollowing(db)).toBe(false);
  claimSource(db, { follows: true });
  claimSource(db, { follows: true });
  expect(isFollowing(db)).toBe(true);
  expect(() => claimSource(db, { follows: false })).toThrow(UserError);
});

test("an index that was filled without an upstream cannot start to follow", () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(1));
  expect(() => claimSource(node.db, { follows: true })).toThrow("was filled without an upstream");
  expect(isFollowing(node.db)).toBe(false);
});

test("the demo network never follows, and is left as it is", () => {
  using db = openIndexInMemory();
  markDemo(db);
  claimSource(db, { follows: false });
  expect(() => claimSource(db, { follows: true })).toThrow(UserError);
  expect(isFollowing(db)).toBe(false);
});

test("an index lacks a state that it had once it holds something, unless it is a demo's", () => {
  using node = startTestNode();
  expect(mayLackState(node.db)).toBe(true);
  node.ingestAll(accountRecords(1));
  expect(mayLackState(node.db)).toBe(false);
  markDemo(node.db);
  expect(mayLackState(node.db)).toBe(true);
});
