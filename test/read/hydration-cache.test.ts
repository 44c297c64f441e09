import { expect, test } from "bun:test";
import { HydrationCache, readThrough } from "../../src/read/hydrate/cache.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import { readPeople } from "../../src/read/queries/search/user-search.ts";
import { Generator } from "../model/actions.ts";
import { Random } from "../model/random.ts";
import { startTestNode } from "../support/node.ts";

// An empty cache does not read the lists of earlier commits, which may be hundreds, and misses no later commit.
test("an empty cache starts at the last commit, and drops the states that later commits change", () => {
  using node = startTestNode();
  const generator = new Generator(new Random(21));
  for (const { record } of generator.accounts()) node.ingest(record);
  const cache = new HydrationCache();
  const ran: string[] = [];
  node.db.onStatement = (name) => ran.push(name);
  const nameOf = (names: HydrationCache, fid: number) => {
    return readPeople(node.db, names, [fid]).get(fid);
  };
  const readUser = (fid: number) =>
    node.db.snapshot(() => {
      cache.sync(node.db);
      return {
        user: readThrough(cache.users, [fid], (fids) => loadUsers(node.db, fids)).get(fid),
        name: nameOf(cache, fid),
      };
    });
  const storedUser = (fid: number) => ({
    user: loadUsers(node.db, [fid]).get(fid),
    name: nameOf(new HydrationCache(), fid),
  });

  const fids = node.db.sqlite.query<{ fid: number }, []>("SELECT fid FROM fids").all();
  for (const { fid } of fids) readUser(fid);
  expect(ran).toContain("touched.last");
  expect(ran).not.toContain("touched.since");

  for (const { record } of generator.actions(100, false)) node.ingest(record);
  for (const { fid } of fids) expect(readUser(fid)).toEqual(storedUser(fid));
  expect(ran).toContain("touched.since");
});
