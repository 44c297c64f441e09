import { expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast } from "../../support/read-model.ts";

const AT = 1_700_000_000;
const CASTS = 10;

function rowsOf(db: IndexDatabase): unknown[] {
  return db.sqlite.query("SELECT * FROM thread_notifications ORDER BY 1, 2, 3, 4, 5, 6").values();
}

/** The notifications and the casts that they name. */
function expectedRows(db: IndexDatabase): unknown[] {
  return db.sqlite
    .query(
      `SELECT n.fid, coalesce(c.root_url_id, c.parent_url_id), n.timestamp, n.kind, n.actor_fid, n.ref
       FROM notifications n JOIN casts c ON c.id = n.ref
       WHERE n.kind < 3 AND coalesce(c.root_url_id, c.parent_url_id) IS NOT NULL
       ORDER BY 1, 2, 3, 4, 5, 6`,
    )
    .values();
}

/** Each cast starts a thread, under a URL or not, or replies to an earlier one; some mention. */
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
        expect(rowsOf(db)).toEqual(expectedRows(db));
      },
    ),
    { numRuns: 300 },
  );
});
