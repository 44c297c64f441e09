import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { LeafPages, type TreeKey } from "../../../src/db/sqlite/leaf-pages.ts";
import { ReadAhead } from "../../../src/db/sqlite/read-ahead.ts";
import { tempDir } from "../../support/program.ts";

const PAGE = 512;
const ROWS = 3000;
const LEAVES = [10, 13];

const mark = (n: number) => `<${n}>`;

/** A database whose rows name their number, so that a page shows which ones it has. */
function makeDatabase(path: string, seed: number): void {
  using db = new Database(path);
  db.exec(`PRAGMA page_size = ${PAGE}`);
  db.exec("CREATE TABLE by_id (id INTEGER PRIMARY KEY, mark TEXT)");
  db.exec("CREATE TABLE by_key (a, b, mark TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID");
  db.exec("CREATE TABLE by_text (a, mark TEXT, PRIMARY KEY (a)) WITHOUT ROWID");
  db.exec("CREATE TABLE by_blob (a, mark TEXT, PRIMARY KEY (a)) WITHOUT ROWID");
  db.exec("CREATE TABLE small (id INTEGER PRIMARY KEY, mark TEXT)");
  db.exec("BEGIN");
  for (let row = 0; row < ROWS; row++) {
    const n = (row * 1_013 + seed) % ROWS;
    db.query("INSERT INTO by_id VALUES (?, ?)").run(idOf(n), mark(n));
    db.query("INSERT INTO by_key VALUES (?, ?, ?)").run(n >> 4, idOf(n), mark(n));
    db.query("INSERT INTO by_text VALUES (?, ?)").run(`name ${n}`, mark(n));
    db.query("INSERT INTO by_blob VALUES (?, ?)").run(blobOf(n), mark(n));
  }
  db.query("INSERT INTO small VALUES (1, ?)").run(mark(1));
  db.exec("COMMIT");
}

/** Ids of every size: missing casts have negative ones, casts those above 2^46. */
const idOf = (n: number) => [n - 1_500, 2 ** 46 + n * 70_001, n, n * 5_000][n % 4] ?? 0;
const blobOf = (n: number) => new Bun.CryptoHasher("sha1").update(String(n)).digest().subarray(0, 6);

describe("LeafPages", () => {
  test("names the leaf of every entry, whatever the kind of its key", () => {
    using dir = tempDir();
    const path = join(dir.path, "test.db");
    makeDatabase(path, 7);
    using db = new Database(path, { readonly: true });
    const file = readFileSync(path);
    const fd = openSync(path, "r");
    const asked = new Set<number>();
    const pages = new LeafPages({
      fd,
      pageBytes: PAGE,
      rootOf: (tree) =>
        db
          .query<{ root: number }, [string]>("SELECT rootpage AS root FROM sqlite_schema WHERE name = ?")
          .get(tree)?.root,
      willNeed: (page) => asked.add(page),
    });
    const pageAt = (page: number) => file.subarray((page - 1) * PAGE, page * PAGE);
    const keys: Record<string, (n: number) => TreeKey> = {
      by_id: idOf,
      by_key: (n) => [n >> 4, idOf(n)],
      by_text: (n) => [`name ${n}`],
      by_blob: (n) => [blobOf(n)],
    };
    let inLeaves = 0;
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(keys)), fc.nat(ROWS - 1), (tree, n) => {
        const leaves = [...pages.leavesOf([{ tree, keys: [keys[tree]?.(n) ?? 0] }])];
        expect(leaves).toHaveLength(1);
        const leaf = pageAt(leaves[0] ?? 0);
        expect(LEAVES).toContain(leaf[0] ?? 0);
        // One entry of about thirty is in an interior page of an index.
        if (leaf.includes(mark(n))) inLeaves += 1;
        else expect(tree).not.toBe("by_id");
      }),
      { numRuns: 2000 },
    );
    expect(inLeaves).toBeGreaterThan(1800);
    const all = pages.leavesOf([{ tree: "by_id", keys: Array.from({ length: ROWS }, (_, n) => idOf(n)) }]);
    expect(all.size).toBeGreaterThan(20);
    // The interior pages of a level were asked for together.
    pages.forget();
    asked.clear();
    pages.leavesOf([{ tree: "by_key", keys: Array.from({ length: ROWS }, (_, n) => [n >> 4, idOf(n)]) }]);
    expect(asked.size).toBeGreaterThan(1);
    expect([...asked].every((page) => pageAt(page)[0] === 2)).toBe(true);
    expect(pages.leavesOf([{ tree: "small", keys: [1, 2] }]).size).toBe(1);
    expect(pages.leavesOf([{ tree: "absent", keys: [1] }]).size).toBe(0);
    closeSync(fd);
  });

  test("names nothing, and throws nothing, for pages of any content", () => {
    using dir = tempDir();
    const path = join(dir.path, "test.db");
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: PAGE, maxLength: PAGE }),
        fc.constantFrom(2, 5),
        fc.constantFrom<TreeKey>(5, [5], ["name"], [Uint8Array.of(1, 2)], [1, 2, 3]),
        (bytes, type, key) => {
          bytes[0] = type;
          writeFileSync(path, bytes);
          const fd = openSync(path, "r");
          const pages = new LeafPages({ fd, pageBytes: PAGE, rootOf: () => 1, willNeed: () => undefined });
          expect(pages.leavesOf([{ tree: "any", keys: [key] }]).size).toBe(0);
          closeSync(fd);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("ReadAhead", () => {
  test("asks for pages only while the database is larger than the memory", () => {
    using dir = tempDir();
    const path = join(dir.path, "test.db");
    makeDatabase(path, 1);
    for (const [memory, isNeeded] of [
      [0, process.platform === "linux"],
      [2 ** 40, false],
    ] as const) {
      using db = new Database(path, { readonly: true });
      const ahead = new ReadAhead(db, { memoryBytes: () => memory });
      let built = 0;
      ahead.willRead(() => {
        built += 1;
        return [{ tree: "by_id", keys: [1, 2, 3] }];
      });
      expect(built).toBe(isNeeded ? 1 : 0);
    }
  });
});
