import { expect, test } from "bun:test";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import { hydrate } from "../../src/read/hydrate/hydrate.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";

const MESSAGES = IS_LONG ? 30_000 : 3000;
const FIDS = Array.from({ length: 20 }, (_, at) => at + 1);
const NOW_SECS = Math.floor(Date.now() / 1000);

/** What each commit keeps true, as the rows that contradict it. */
const CONTRADICTIONS: Readonly<Record<string, string>> = {
  "messages are counted": `SELECT 1 WHERE (SELECT coalesce(sum(used), 0) FROM store_counts)
    != (SELECT coalesce(sum(count), 0) FROM totals WHERE name = 'messages')`,
  "casts are counted": `SELECT 1 WHERE (SELECT count(*) FROM casts)
    != (SELECT coalesce(sum(count), 0) FROM totals WHERE name = 'casts')`,
  "every live row has its envelope": `SELECT envelope_id FROM casts UNION ALL SELECT envelope_id FROM reactions
    UNION ALL SELECT envelope_id FROM links EXCEPT SELECT id FROM envelopes`,
  "likes are counted": `SELECT id FROM cast_counts c
    WHERE likes != (SELECT count(*) FROM reactions r WHERE r.target_id = c.id AND r.type = 1)`,
  "replies are counted": `SELECT id FROM cast_counts c
    WHERE replies != (SELECT count(*) FROM casts r WHERE r.parent_id = c.id)`,
  "followers are counted": `SELECT fid FROM follow_counts c
    WHERE followers != (SELECT count(*) FROM links l WHERE l.target_fid = c.fid AND l.type = 1)`,
  "targets are live or missing": `SELECT target_id FROM reactions WHERE target_fid != 0
    EXCEPT SELECT id FROM (SELECT id FROM casts UNION ALL SELECT id FROM missing_casts)`,
  "no cast is both live and missing": "SELECT id FROM casts INTERSECT SELECT id FROM missing_casts",
  "every cast can be searched": "SELECT id FROM casts EXCEPT SELECT rowid FROM casts_fts",
};

function contradictions(db: IndexDatabase): string[] {
  return Object.entries(CONTRADICTIONS)
    .filter(([, sql]) => db.sqlite.query(`${sql} LIMIT 1`).get() !== null)
    .map(([name]) => name);
}

test("a reader beside live writes sees whole commits only, and its cache is as new as its snapshot", async () => {
  using dir = tempDir();
  const path = indexPath(dir.path);
  const writer = Bun.spawn(
    [process.execPath, join(import.meta.dir, "processes/live-writer.ts"), path, `${MESSAGES}`],
    { stdout: "pipe", stderr: "inherit" },
  );
  let isWriting = true;
  const exited = writer.exited.then((code) => {
    isWriting = false;
    return code;
  });
  await writer.stdout.getReader().read();
  using reader = openIndexReader(path);
  const cache = new HydrationCache();
  const seen = new Set<number>();
  const read = () =>
    reader.snapshot(() => {
      cache.sync(reader);
      const newest = reader.sqlite.query<{ id: number }, []>(
        "SELECT id FROM casts ORDER BY id DESC LIMIT 30",
      );
      const castIds = newest.all().map(({ id }) => id);
      const request = { fids: FIDS, castIds };
      expect(contradictions(reader)).toEqual([]);
      const { version, ...cached } = hydrate(reader, request, NOW_SECS, cache);
      const { version: anotherVersion, ...loaded } = hydrate(reader, request, NOW_SECS, new HydrationCache());
      expect(cached).toEqual(loaded);
      expect(version).not.toBe(anotherVersion);
      seen.add(reader.sqlite.query<{ n: number }, []>("SELECT max(seq) AS n FROM touched").get()?.n ?? 0);
    });
  while (isWriting) {
    read();
    await new Promise(setImmediate);
  }
  expect(await exited).toBe(0);
  read();
  expect(reader.sqlite.query("SELECT 1 FROM missing_casts LIMIT 1").get()).not.toBeNull();
  expect(seen.size).toBeGreaterThan(2);
});
