import { expect, test } from "bun:test";
import fc from "fast-check";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import type { Page, PagedList } from "../../src/read/cursor.ts";
import {
  type CastRef,
  type Hash,
  hashesOfCasts,
  hex,
  loadCastsByHash,
} from "../../src/read/hydrate/casts.ts";
import { castsOfUser } from "../../src/read/queries/casts/cast-lists.ts";
import { orderedPage } from "../../src/read/queries/ordered-page.ts";
import { castSearch } from "../../src/read/queries/search/cast-search.ts";
import { insertCast } from "../support/read-model.ts";

const AT = 1_700_000_000;

interface Row {
  readonly rank: number;
  readonly hash: Hash;
}

const rows = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 999 })), {
    maxLength: 60,
    selector: ([, digits]) => digits,
  })
  .map((pairs) =>
    pairs.map(([rank, digits]): Row => ({ rank, hash: `0x${String(digits).padStart(3, "0")}` })),
  );

test("pages of any size concatenate to the list by rank and hash, although it is read only by rank", () => {
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom("asc" as const, "desc" as const),
      fc.integer({ min: 1, max: 9 }),
      (all, direction, limit) => {
        const sign = direction === "asc" ? 1 : -1;
        const whole = all.toSorted((a, b) => sign * (a.rank - b.rank || (a.hash < b.hash ? -1 : 1)));
        const byRank = all.toSorted((a, b) => sign * (a.rank - b.rank));
        const seen: Row[] = [];
        for (let last: Row | undefined, more = true; more; last = seen.at(-1)) {
          const from = last;
          const page = orderedPage<Row>({
            limit,
            direction,
            after: from && { hash: from.hash, isTied: ({ rank }) => rank === from.rank },
            isTied: (a, b) => a.rank === b.rank,
            read: (maxRows) =>
              byRank.filter(({ rank }) => !from || sign * (rank - from.rank) >= 0).slice(0, maxRows),
            hashesOf: (tied) => tied.map(({ hash }) => hash),
          });
          seen.push(...page.rows);
          more = page.hasMore;
          expect(page.rows.length).toBe(more ? limit : page.rows.length);
        }
        expect(seen).toEqual(whole);
      },
    ),
  );
});

/** Casts of one second: some share the 16 bits of the hash that an id holds, some the 6 bytes that the index holds. */
const collisions = ["0a0a0a0a0a0a01", "0a0a0a0a0a0a00", "0a0a00", "0a0aff", "0a0b00", "0a09ff"].map((head) =>
  Buffer.from(head.padEnd(40, "7"), "hex"),
);

test("casts of one second whose hashes collide are found by hash, and listed by the full hash", () => {
  using db = openIndexInMemory();
  for (const hash of collisions) insertCast(db, { fid: 1, at: AT, hash, body: { text: "gm" } });
  insertCast(db, { fid: 1, at: AT + 1, hash: Buffer.alloc(20, 1), body: { text: "gm" } });
  insertCast(db, { fid: 1, at: AT - 1, hash: Buffer.alloc(20, 2), body: { text: "gm" } });
  const sorted = collisions.toSorted(Buffer.compare).toReversed();
  const expected = [Buffer.alloc(20, 1), ...sorted, Buffer.alloc(20, 2)].map((hash) => hex(hash));
  for (const hash of expected) expect(loadCastsByHash(db, [hash]).map((cast) => cast.hash)).toEqual([hash]);
  const pagesOf = <Query>(
    limit: number,
    list: PagedList<readonly ["int", "hash"], CastRef, Query>,
    subject: Query,
  ) => {
    const seen: Hash[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: Page<CastRef> = list(db, { ...subject, limit, after: list.cursor.decode(cursor) });
      const ids = page.rows.map(({ id }) => id);
      seen.push(...hashesOfCasts(db, ids));
      cursor = page.cursor;
    }
    return seen;
  };
  for (const limit of [1, 2, 3, 5, 100]) {
    expect(pagesOf(limit, castsOfUser, { fid: 1 })).toEqual(expected);
    expect(pagesOf(limit, castSearch, { text: "gm" })).toEqual(expected);
  }
});
