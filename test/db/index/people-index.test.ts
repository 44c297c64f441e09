import { expect, test } from "bun:test";
import { openIndexWriter } from "../../../src/db/index/database.ts";
import { lacksPeople, rebuildPeople } from "../../../src/db/index/search/people-index.ts";
import { bulkFill } from "../../support/bulk-fill.ts";
import { contentDifferences, indexContent } from "../../support/index-content.ts";
import { temporaryIndex } from "../../support/temporary-index.ts";
import { wildMessages } from "../../support/wild-network.ts";

/** Makes the index what it was before the migration that creates the index of people, and the one after it. */
const OLDER = `
  DROP TABLE confirmed_events;
  DROP TABLE people_fts;
  CREATE TABLE display_name_words (word text NOT NULL, fid integer NOT NULL, PRIMARY KEY(word, fid)) WITHOUT ROWID;
  DELETE FROM __drizzle_migrations
  WHERE created_at IN (SELECT created_at FROM __drizzle_migrations ORDER BY created_at DESC LIMIT 2)`;

test("an index from before the index of people gets it at the next start, once", () => {
  using index = temporaryIndex();
  const { bulk, next } = bulkFill(index.db, wildMessages("people", 1500), 500);
  while (next());
  expect(bulk.phase).toBe("finished");
  expect(lacksPeople(index.db)).toBe(false);
  const whole = indexContent(index.db);
  expect(whole.get("people")?.length).toBeGreaterThan(5);
  index.db.sqlite.exec(OLDER);
  index.db[Symbol.dispose]();
  {
    using migrated = openIndexWriter(index.path);
    expect(lacksPeople(migrated)).toBe(true);
    expect(rebuildPeople(migrated)).toBe(false);
    expect(lacksPeople(migrated)).toBe(false);
    expect(contentDifferences(whole, indexContent(migrated))).toEqual([]);
  }
  using reopened = openIndexWriter(index.path);
  expect(lacksPeople(reopened)).toBe(false);
});

test("a new index is complete", () => {
  using index = temporaryIndex();
  expect(lacksPeople(index.db)).toBe(false);
});
