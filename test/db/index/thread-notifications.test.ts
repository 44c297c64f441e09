import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast } from "../../support/read-model.ts";

const AT = 1_700_000_000;
const CASTS = 10;

const migration = readFileSync(
  join(import.meta.dir, "../../../drizzle/index/0011_thread_notifications.sql"),
  "utf8",
);
const fillByMigration = migration.split("--> statement-breakpoint")[1] ?? "";

function rowsOf(db: IndexDatabase): unknown[] {
  const columns = "fid, root_parent_url, timestamp, kind, actor_fid, hex(ref)";
  return db.sqlite.query(`SELECT ${columns} FROM thread_notifications ORDER BY 1, 2, 3, 4, 5, 6`).values();
}

/** Each cast starts a thread, under a URL or not, or answers an earlier one; some mention. */
const cast = fc.record({
  fid: fc.integer({ min: 1, max: 3 }),
  parent: fc.nat(2 * CASTS),
  url: fc.constantFrom(undefined, "https://a.example", "chain://b"),
  mentions: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
});

test("mentions and replies are under the URL of their thread's root, in any order of adds, removes and late arrivals", () => {
  fc.assert(
    fc.property(
      fc.array(cast, { minLength: CASTS, maxLength: CASTS }),
      fc.array(fc.nat(CASTS - 1), { maxLength: 40 }),
      (specs, turns) => {
        using db = openIndexInMemory();
        const casts: ModelCast[] = [];
        for (const [n, { fid, parent, url, mentions }] of specs.entries()) {
          const above = casts[parent];
          const body = {
            text: `${n}`,
            mentions,
            mentionsPositions: mentions.map(() => 0),
            ...(above
              ? { parent: { $case: "parentCastId" as const, value: { fid: above.fid, hash: above.hash } } }
              : url !== undefined && { parent: { $case: "parentUrl" as const, value: url } }),
          };
          casts.push({ fid, at: AT + n, hash: hashFrom(`${n}`), body });
        }
        const live = new Set<ModelCast>();
        for (const turn of turns) {
          const turned = casts[turn];
          if (turned === undefined) continue;
          db.transaction(() => (live.has(turned) ? deleteCast : insertCast)(db, turned));
          if (!live.delete(turned)) live.add(turned);
        }
        const kept = rowsOf(db);
        db.sqlite.exec("DELETE FROM thread_notifications");
        db.sqlite.exec(fillByMigration);
        expect(kept).toEqual(rowsOf(db));
      },
    ),
    { numRuns: 300 },
  );
});
