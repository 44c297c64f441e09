import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory, openIndexWriter } from "../../../src/db/index/database.ts";
import { continueRepoints } from "../../../src/db/index/project/cast-references/repoints.ts";
import { findReaction } from "../../../src/db/index/project/reactions.ts";
import { dumpIndex } from "../../support/dump.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast, setReaction } from "../../support/read-model.ts";

const AT = 1_700_000_000;
const CASTS = 8;
const LIKE = 1;

/** A like or recast of a cast, by its author's fid or a wrong one. */
interface ModelReaction {
  readonly fid: number;
  readonly type: number;
  readonly target: ModelCast;
  readonly at: number;
}

interface Network {
  readonly casts: readonly ModelCast[];
  readonly reactions: readonly ModelReaction[];
}

/** Casts that start threads or reply to, quote and mention earlier ones. Many share a second and the start of their hash. */
const network: fc.Arbitrary<Network> = fc
  .tuple(
    fc.array(
      fc.record({
        fid: fc.integer({ min: 1, max: 3 }),
        secs: fc.integer({ min: 0, max: 2 }),
        commonBytes: fc.constantFrom(0, 2, 6),
        parent: fc.nat(2 * CASTS),
        quoted: fc.nat(2 * CASTS),
        url: fc.constantFrom(undefined, "https://a.example", "chain://b"),
        mentions: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
      }),
      { minLength: CASTS, maxLength: CASTS },
    ),
    fc.uniqueArray(
      fc.record({
        fid: fc.integer({ min: 1, max: 4 }),
        type: fc.constantFrom(LIKE, 2),
        cast: fc.nat(CASTS - 1),
        hasWrongAuthor: fc.boolean(),
      }),
      { maxLength: 16, selector: (one) => JSON.stringify(one) },
    ),
  )
  .map(([specs, likes]) => {
    const casts: ModelCast[] = [];
    for (const [n, { fid, secs, commonBytes, parent, quoted, url, mentions }] of specs.entries()) {
      const [above, other] = [casts[parent], casts[quoted]];
      const refOf = (cast: ModelCast) => ({ fid: cast.fid, hash: cast.hash });
      const hash = hashFrom(`${n}`).fill(7, 0, commonBytes);
      const body = {
        text: `${n}`,
        mentions,
        mentionsPositions: mentions.map(() => 0),
        embeds: other ? [{ embed: { $case: "castId" as const, value: refOf(other) } }] : [],
        ...(above
          ? { parent: { $case: "parentCastId" as const, value: refOf(above) } }
          : url !== undefined && { parent: { $case: "parentUrl" as const, value: url } }),
      };
      casts.push({ fid, at: AT + secs, hash, body });
    }
    const reactions = likes.map(({ fid, type, cast, hasWrongAuthor }, n) => {
      const target = casts[cast] as ModelCast;
      return { fid, type, at: AT + n, target: hasWrongAuthor ? { ...target, fid: target.fid + 10 } : target };
    });
    return { casts, reactions };
  });

/** Adds or removes the cast or reaction with this number. */
function turn(db: IndexDatabase, { casts, reactions }: Network, n: number, on: boolean): void {
  const cast = casts[n];
  const reaction = reactions[n - casts.length];
  if (cast) (on ? insertCast : deleteCast)(db, cast);
  else if (reaction) setReaction(db, { ...reaction, on });
}

function finishRepoints(db: IndexDatabase): void {
  while (db.repoints.areAny(db)) db.transaction(() => continueRepoints(db));
}

/** The number of rows that name a cast by its old id. */
function rowsToMove(db: IndexDatabase): number {
  const rows = db.sqlite
    .query<{ n: number }, []>(
      `SELECT (SELECT count(*) FROM reactions WHERE target_id = old_id)
         + (SELECT count(*) FROM cast_quotes WHERE quoted_id = old_id)
         + (SELECT count(*) FROM casts WHERE parent_id = old_id OR root_id = old_id) AS n
       FROM cast_repoints`,
    )
    .all();
  return rows.reduce((sum, { n }) => sum + n, 0);
}

describe("casts that arrive late, leave and return", () => {
  test("give the index of an ordered arrival, however few rows a commit moves, also with restarts in between", () => {
    fc.assert(
      fc.property(
        network,
        fc.array(fc.record({ n: fc.nat(CASTS + 15), restarts: fc.boolean() }), { maxLength: 60 }),
        fc.integer({ min: 0, max: 3 }),
        (all, turns, rowsPerCommit) => {
          using db = openIndexInMemory();
          db.repoints.rowsPerTransaction = rowsPerCommit;
          const live = new Set<number>();
          for (const { n, restarts } of turns) {
            if (n >= CASTS + all.reactions.length) continue;
            // What the writer has in memory is read again.
            if (restarts) db.repoints.clear();
            const before = rowsToMove(db);
            const isAdded = !live.delete(n);
            if (isAdded) live.add(n);
            db.transaction(() => {
              continueRepoints(db);
              // A removal of a row that had to move leaves one less.
              expect(before - rowsToMove(db)).toBeLessThanOrEqual(rowsPerCommit);
              turn(db, all, n, isAdded);
            });
            for (const [at, { fid, type, target }] of all.reactions.entries())
              expect(findReaction(db, fid, type, target) !== undefined).toBe(live.has(CASTS + at));
          }
          db.repoints.rowsPerTransaction = 1;
          finishRepoints(db);
          using ordered = openIndexInMemory();
          for (const n of [...live].sort((a, b) => a - b))
            ordered.transaction(() => turn(ordered, all, n, true));
          expect(dumpIndex(db)).toBe(dumpIndex(ordered));
          expect(searchable(db)).toEqual(castIds(db));
        },
      ),
      { numRuns: Number(process.env.LATE_CASTS_RUNS ?? 200) },
    );
  }, 180_000);

  test("show a reaction with a wrong author nowhere", () => {
    using db = openIndexInMemory();
    const cast = { fid: 1, at: AT, hash: hashFrom("cast"), body: { text: "cast" } };
    setReaction(db, { fid: 2, type: LIKE, target: { ...cast, fid: 3 }, at: AT, on: true });
    insertCast(db, cast);
    setReaction(db, { fid: 4, type: LIKE, target: { ...cast, fid: 3 }, at: AT, on: true });
    const [{ id } = { id: 0 }] = db.sqlite.query<{ id: number }, []>("SELECT id FROM casts").all();
    expect(db.sqlite.query("SELECT * FROM cast_counts WHERE id = ?").all(id)).toEqual([]);
    expect(db.sqlite.query("SELECT * FROM reactions WHERE target_id = ?").all(id)).toEqual([]);
    expect(db.sqlite.query("SELECT * FROM notifications WHERE fid = 1").all()).toEqual([]);
  });

  test("of one second and start of hash have ids of their own, which they keep while others name them", () => {
    using db = openIndexInMemory();
    const casts = Array.from({ length: 5 }, (_, n) => ({
      fid: 1,
      at: AT,
      hash: hashFrom(`${n}`).fill(255, 0, 6),
      body: { text: `${n}` },
    }));
    for (const cast of casts) insertCast(db, cast);
    const idOf = (cast: ModelCast) =>
      db.sqlite.query<{ id: number }, [Uint8Array]>("SELECT id FROM casts WHERE hash = ?").get(cast.hash)?.id;
    const ids = casts.map(idOf);
    expect(new Set(ids).size).toBe(5);
    // The last id of the second is the first choice of all: the others are at its start.
    expect(ids.map((id) => Math.floor((id ?? 0) / 65_536))).toEqual(casts.map(() => AT));
    const [first, second] = casts;
    if (!first || !second) throw new Error("there are five casts");
    setReaction(db, { fid: 2, type: LIKE, target: first, at: AT, on: true });
    deleteCast(db, first);
    deleteCast(db, second);
    insertCast(db, { ...second, hash: hashFrom("new").fill(255, 0, 6) });
    insertCast(db, first);
    expect(idOf(first)).toBe(ids[0]);
  });
});

describe("a cast that many rows named before it arrived", () => {
  const REACTIONS = 2500;

  test("moves a bounded number of rows a commit, also after a restart, and has its counts at once", () => {
    const dir = mkdtempSync(join(tmpdir(), "late-cast-"));
    try {
      const path = join(dir, "index.db");
      const cast: ModelCast = {
        fid: 1,
        at: AT,
        hash: hashFrom("viral"),
        body: { text: "viral", parent: { $case: "parentUrl", value: "https://a.example" } },
      };
      const parent = { $case: "parentCastId" as const, value: { fid: 1, hash: cast.hash } };
      const fill = (db: IndexDatabase) => {
        for (let fid = 2; fid < 2 + REACTIONS; fid++)
          setReaction(db, { fid, type: LIKE, target: cast, at: AT + fid, on: true });
        for (let fid = 2; fid < 302; fid++)
          insertCast(db, { fid, at: AT + fid, hash: hashFrom(`${fid}`), body: { text: "reply", parent } });
      };
      const countOf = (db: IndexDatabase) =>
        db.sqlite.query("SELECT likes, replies FROM cast_counts JOIN casts USING (id)").get();
      const steps: number[] = [];
      {
        using db = openIndexWriter(path);
        db.transaction(() => fill(db));
        db.transaction(() => insertCast(db, cast));
        steps.push(rowsToMove(db));
        expect(countOf(db)).toEqual({ likes: REACTIONS, replies: 300 });
      }
      for (let commits = 0; commits < 4; commits++) {
        using db = openIndexWriter(path);
        if (!db.repoints.areAny(db)) break;
        db.transaction(() => continueRepoints(db));
        steps.push(rowsToMove(db));
        expect(countOf(db)).toEqual({ likes: REACTIONS, replies: 300 });
      }
      // A reply names the cast twice: as parent and as root.
      expect(steps).toEqual([1800, 800, 0]);
      using db = openIndexWriter(path);
      using ordered = openIndexInMemory();
      ordered.transaction(() => {
        insertCast(ordered, cast);
        fill(ordered);
      });
      expect(dumpIndex(db)).toBe(dumpIndex(ordered));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

function searchable(db: IndexDatabase): unknown[] {
  return db.sqlite.query("SELECT rowid FROM casts_fts ORDER BY 1").values();
}

function castIds(db: IndexDatabase): unknown[] {
  return db.sqlite.query("SELECT id FROM casts ORDER BY 1").values();
}
