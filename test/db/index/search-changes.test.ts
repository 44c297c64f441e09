import { expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { deleteCast, hashFrom, insertCast } from "../../support/read-model.ts";

const AT = 1_700_000_000;

function found(db: IndexDatabase, word: string): number {
  return db.sqlite.query("SELECT rowid FROM casts_fts WHERE casts_fts MATCH ?").all(word).length;
}

/** A cast of one word, whose row id rises with `n`. */
const castOf = (n: number, text: string) => ({ fid: 1, at: AT + n, hash: hashFrom(text), body: { text } });

test("a cast is findable from its commit on, and no longer from the commit of its removal", () => {
  using db = openIndexInMemory();
  db.transaction(() => insertCast(db, castOf(1, "bread")));
  expect(found(db, "bread")).toBe(1);
  db.transaction(() => deleteCast(db, castOf(1, "bread")));
  expect(found(db, "bread")).toBe(0);
});

test("a cast that is added and removed in one commit is never found, one that is removed and added is", () => {
  using db = openIndexInMemory();
  db.transaction(() => insertCast(db, castOf(1, "bread")));
  db.transaction(() => {
    insertCast(db, castOf(2, "cake"));
    deleteCast(db, castOf(2, "cake"));
    deleteCast(db, castOf(1, "bread"));
    insertCast(db, castOf(1, "bread"));
  });
  expect([found(db, "cake"), found(db, "bread")]).toEqual([0, 1]);
});

// Row ids are made of the time and the start of the hash, so that another cast may get the id of one that went.
test("an id that changes hands in one commit is found only by the later text", () => {
  using db = openIndexInMemory();
  const [bread, cake] = [castOf(1, "bread"), { ...castOf(1, "cake"), hash: Buffer.from(hashFrom("bread")) }];
  cake.hash[19] = (cake.hash[19] ?? 0) ^ 1;
  db.transaction(() => insertCast(db, bread));
  db.transaction(() => {
    deleteCast(db, bread);
    insertCast(db, cake);
  });
  expect([found(db, "bread"), found(db, "cake")]).toEqual([0, 1]);
});

test("nothing of a commit that failed is in the next", () => {
  using db = openIndexInMemory();
  db.transaction(() => insertCast(db, castOf(1, "bread")));
  const failing = () =>
    db.transaction(() => {
      insertCast(db, castOf(2, "cake"));
      deleteCast(db, castOf(1, "bread"));
      throw new Error("no disk");
    });
  expect(failing).toThrow("no disk");
  db.transaction(() => insertCast(db, castOf(3, "tea")));
  expect([found(db, "bread"), found(db, "cake"), found(db, "tea")]).toEqual([1, 0, 1]);
});

// The full-text index ends a segment at each id that is not above the one before, and many segments are slow to write.
test("a commit makes one segment, in whatever order its casts arrive", () => {
  using db = openIndexInMemory();
  const before = segments(db);
  db.transaction(() => {
    for (let n = 0; n < 200; n++) insertCast(db, castOf((n * 73) % 200, `word${n}`));
  });
  expect(segments(db) - before).toBe(1);
  expect(found(db, "word7*")).toBe(11);
});

function segments(db: IndexDatabase): number {
  return (
    db.sqlite.query("SELECT count(DISTINCT segid) AS n FROM casts_fts_idx").get() as { readonly n: number }
  ).n;
}
