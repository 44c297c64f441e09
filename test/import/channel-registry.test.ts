import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { importRegistry, readRegistry } from "../../src/import/channel-registry.ts";
import { UserError } from "../../src/lib/failure.ts";

/** A row as the public endpoint returns it, with unknown keys. */
const books = {
  id: "books",
  url: "https://warpcast.com/~/channel/books",
  name: "Books & Letters",
  description: "What we read",
  descriptionMentions: [],
  imageUrl: "https://images.example/books.png",
  headerImageUrl: "https://images.example/books-header.png",
  leadFid: 3,
  moderatorFids: [4, 5, 4],
  createdAt: 1_700_000_000,
  followerCount: 77,
  memberCount: 12,
  pinnedCastHash: `0x${"AB".repeat(20)}`,
  publicCasting: true,
  externalLink: { title: "More", url: "https://books.example" },
};
const collection = {
  id: "punks",
  url: "chain://eip155:1/erc721:0xabc",
  name: "Punks",
  createdAt: 1_700_000_000_123,
};

const booksRow = {
  id: "books",
  registry_id: "books",
  url: "https://warpcast.com/~/channel/books",
  name: "Books & Letters",
  name_key: "books & letters",
  image_url: "https://images.example/books.png",
  description: "What we read",
  lead_fid: 3,
  moderator_fids: "[4,5]",
  follower_count: 77,
  created_at: 1_700_000_000,
  pinned_cast_hash: `0x${"ab".repeat(20)}`,
};

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "registry-test-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function importValue(db: IndexDatabase, value: unknown) {
  return importText(db, JSON.stringify(value));
}

function importText(db: IndexDatabase, text: string) {
  const path = join(dir, "registry.json");
  writeFileSync(path, text);
  return importRegistry(db, path);
}

const rowsOf = (db: IndexDatabase) => db.sqlite.query("SELECT * FROM channel_registry ORDER BY id").all();

describe("importing a registry", () => {
  test("every shape of the file and both spellings of its keys result in the same rows", () => {
    const snake = Object.fromEntries(
      Object.entries(books).map(([key, value]) => [
        key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
        value,
      ]),
    );
    for (const value of [
      { result: { channels: [books] } },
      { channels: [books] },
      [books],
      { result: { channels: [snake] }, next: { cursor: "x" } },
    ]) {
      using db = openIndexInMemory();
      expect(importValue(db, value)).toEqual({ added: 1, changed: 0, unchanged: 0, badRows: [] });
      expect(rowsOf(db)).toEqual([booksRow]);
    }
  });

  test("a repeated import changes nothing; a later one changes only the channels that it contains", () => {
    using db = openIndexInMemory();
    expect(importValue(db, [books, collection])).toMatchObject({ added: 2, changed: 0, unchanged: 0 });
    const before = rowsOf(db);
    expect(importValue(db, [collection, books])).toMatchObject({ added: 0, changed: 0, unchanged: 2 });
    expect(rowsOf(db)).toEqual(before);
    const later = { ...books, name: "BÜCHER", leadFid: null, description: null };
    expect(importValue(db, [later])).toMatchObject({ added: 0, changed: 1, unchanged: 0 });
    expect(rowsOf(db)).toEqual([
      { ...booksRow, name: "BÜCHER", name_key: "bücher", lead_fid: null, description: null },
      ...before.slice(1),
    ]);
  });

  test("a channel has the id of its URL, and its id changes with the URL", () => {
    using db = openIndexInMemory();
    importValue(db, [collection]);
    expect(rowsOf(db)).toMatchObject([
      { id: collection.url, registry_id: "punks", created_at: 1_700_000_000 },
    ]);
    const moved = { ...collection, url: "https://farcaster.xyz/~/channel/punks" };
    expect(importValue(db, [moved])).toMatchObject({ added: 0, changed: 1 });
    expect(rowsOf(db)).toMatchObject([{ id: "punks", registry_id: "punks", url: moved.url }]);
  });

  test("missing fields of a row have defaults", () => {
    using db = openIndexInMemory();
    importValue(db, [{ id: "bare", imageUrl: "", leadFid: 0, pinnedCastHash: "" }]);
    expect(rowsOf(db)).toEqual([
      {
        id: "bare",
        registry_id: "bare",
        url: null,
        name: "bare",
        name_key: "bare",
        image_url: null,
        description: null,
        lead_fid: null,
        moderator_fids: "[]",
        follower_count: 0,
        created_at: null,
        pinned_cast_hash: null,
      },
    ]);
  });

  test("skips and reports invalid rows with index and reason, and imports the others", () => {
    using db = openIndexInMemory();
    const { added, badRows } = importValue(db, [
      null,
      books,
      { name: "no id" },
      { id: "a", url: 7 },
      { id: "a", leadFid: -1 },
      { id: "a", leadFid: 1.5 },
      { id: "a", leadFid: "3" },
      { id: "a", followerCount: 2 ** 53 },
      { id: "a", moderatorFids: [1, "2"] },
      { id: "a", moderatorFids: Array.from({ length: 1001 }, (_, n) => n) },
      { id: "a", createdAt: 1e17 },
      { id: "a", createdAt: "2024-01-01" },
      { id: "a", pinnedCastHash: "0x12" },
      { id: "a", name: "n".repeat(257) },
      { id: "\ud800" },
      { id: "é".repeat(129) },
      { id: "other", url: "https://farcaster.xyz/~/channel/books" },
      { id: "books", url: "chain://elsewhere" },
      { id: "a" },
    ]);
    expect(added).toBe(2);
    expect(badRows).toEqual([
      { index: 0, reason: "it is not an object" },
      { index: 2, reason: "id is missing" },
      { index: 3, reason: "url is not text" },
      { index: 4, reason: "leadFid is not an unsigned integer" },
      { index: 5, reason: "leadFid is not an unsigned integer" },
      { index: 6, reason: "leadFid is not an unsigned integer" },
      { index: 7, reason: "followerCount is not an unsigned integer" },
      { index: 8, reason: "moderatorFids is not a list of fids" },
      { index: 9, reason: "moderatorFids contains more than 1000 fids" },
      { index: 10, reason: "createdAt is not an unsigned integer" },
      { index: 11, reason: "createdAt is not an unsigned integer" },
      { index: 12, reason: "pinnedCastHash is not a cast hash" },
      { index: 13, reason: "name is longer than 256 characters" },
      { index: 14, reason: "id is not valid Unicode" },
      { index: 15, reason: "id is longer than 256 bytes" },
      { index: 16, reason: "it is a duplicate of row 1" },
      { index: 17, reason: "it is a duplicate of row 1" },
    ]);
  });

  test("refuses a file that is not a registry and changes nothing", () => {
    using db = openIndexInMemory();
    importValue(db, [books]);
    for (const text of [
      "",
      "{",
      "7",
      "null",
      "{}",
      '{"result":{}}',
      '{"result":{"channels":{}}}',
      "[7]",
      '[{"id":""}]',
    ])
      expect(() => importText(db, text)).toThrow(UserError);
    expect(() => importRegistry(db, join(dir, "nowhere.json"))).toThrow(UserError);
    expect(() => importRegistry(db, dir)).toThrow(UserError);
    expect(() => importRegistry(db, "/dev/zero")).toThrow(UserError);
    expect(rowsOf(db)).toEqual([booksRow]);
    expect(importValue(db, [])).toEqual({ added: 0, changed: 0, unchanged: 0, badRows: [] });
  });

  test("the reader never throws, and its rows are within the bounds", () => {
    const value = fc.oneof(fc.jsonValue(), fc.integer(), fc.constantFrom(...Object.values(books)));
    const row = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...Object.keys(books)), value),
      fc.dictionary(fc.constantFrom(...Object.keys(books)), value).map((some) => ({ ...books, ...some })),
    );
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const { channels = [], badRows = [] } = readRegistry({ result: { channels: rows } }) ?? {};
        expect(channels.length + badRows.length).toBe(rows.length);
        for (const channel of channels) {
          expect(Buffer.byteLength(channel.id)).toBeWithin(1, 257);
          expect(channel.createdAt ?? 0).toBeWithin(0, 1e12);
        }
        expect(new Set(channels.map(({ id }) => id)).size).toBe(channels.length);
      }),
    );
  });
});
