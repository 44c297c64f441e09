import { expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { dropStoredAccount, putStoredAccount } from "../../../src/db/index/trie/account-roots.ts";
import { UpperLevels } from "../../../src/ingest/trie/upper-levels.ts";
import { ShardTrie } from "../../../src/trust/trie/trie.ts";
import { accountPrefix } from "../../../src/trust/trie-key.ts";

const SHARD = 1;
/** In many virtual shards, several in some groups, and more than are read at a time. */
const FIDS = [
  ...Array.from({ length: 1400 }, (_, n) => n),
  ...Array.from({ length: 700 }, (_, n) => 5000 + n * 700),
];

const rootOf = (fid: number, version: number) => Buffer.alloc(20, `${fid} ${version}`);

function put(db: IndexDatabase, trie: Map<number, Uint8Array>, fid: number, version: number): void {
  const root = rootOf(fid, version);
  trie.set(fid, root);
  putStoredAccount(db, SHARD, { account: accountPrefix(fid), root, kinds: new Uint8Array(), claimed: null });
}

function plainRoot(roots: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const trie = new ShardTrie();
  for (const [fid, root] of roots) trie.add({ prefix: accountPrefix(fid), root });
  return trie.root();
}

test("the root of a shard is that of all its accounts, after each change, addition and removal", () => {
  using db = openIndexInMemory();
  const roots = new Map<number, Uint8Array>();
  db.transaction(() => {
    for (const fid of FIDS) put(db, roots, fid, 0);
  });
  const levels = new UpperLevels(db, SHARD);
  expect(levels.root()).toEqual(plainRoot(roots));
  for (const fid of [7, 1399, 5000, 999_999]) {
    put(db, roots, fid, 1);
    levels.changed(accountPrefix(fid));
    expect(levels.root()).toEqual(plainRoot(roots));
    expect(levels.root()).toEqual(plainRoot(roots));
  }
  for (const fid of [5700, 999_999, 8]) {
    roots.delete(fid);
    dropStoredAccount(db, SHARD, accountPrefix(fid));
    levels.changed(accountPrefix(fid));
  }
  expect(levels.root()).toEqual(plainRoot(roots));
});

test("a shard without accounts has an empty root, before and after", () => {
  using db = openIndexInMemory();
  const levels = new UpperLevels(db, SHARD);
  expect(levels.root()).toEqual(new Uint8Array());
  put(db, new Map(), 5, 0);
  levels.changed(accountPrefix(5));
  expect(levels.root()).not.toEqual(new Uint8Array());
  dropStoredAccount(db, SHARD, accountPrefix(5));
  levels.changed(accountPrefix(5));
  expect(levels.root()).toEqual(new Uint8Array());
});
