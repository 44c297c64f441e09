import { expect, test } from "bun:test";
import { HydrationCache, readThrough } from "../../src/read/hydrate/cache.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import { Generator } from "../model/actions.ts";
import { Random } from "../model/random.ts";
import { startTestNode } from "../support/node.ts";

// The lists of hundreds of commits are read by nobody at a start, and none of those that follow is missed.
test("an empty cache begins at the last commit, and drops what later ones change", () => {
  using node = startTestNode();
  const generator = new Generator(new Random(21));
  for (const { record } of generator.accounts()) node.take(record);
  const cache = new HydrationCache();
  const ran: string[] = [];
  node.db.onStatement = (name) => ran.push(name);
  const answer = (fid: number) =>
    node.db.snapshot(() => {
      cache.sync(node.db);
      return readThrough(cache.users, [fid], (fids) => loadUsers(node.db, fids)).get(fid);
    });

  const fids = node.db.sqlite.query<{ fid: number }, []>("SELECT fid FROM fids").all();
  for (const { fid } of fids) answer(fid);
  expect(ran).toContain("touched.last");
  expect(ran).not.toContain("touched.since");

  for (const { record } of generator.actions(100, false)) node.take(record);
  for (const { fid } of fids) expect(answer(fid)).toEqual(loadUsers(node.db, [fid]).get(fid));
  expect(ran).toContain("touched.since");
});
