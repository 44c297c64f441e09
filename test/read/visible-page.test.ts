import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cursorCodec, cutPage, type Page, type PagePosition } from "../../src/read/cursor.ts";
import { visiblePage } from "../../src/read/rules/visible-page.ts";

const cursor = cursorCodec("numbers", ["int"]);
type Position = PagePosition<readonly ["int"]>;

/** A list of the numbers below `length`, which counts what is read of it. */
function listOf(length: number, { knowsCursors = true } = {}) {
  let read = 0;
  let calls = 0;
  const page = ({ limit, after }: Position): Page<number> => {
    calls += 1;
    const from = after ? after[0] + 1 : 0;
    const rows = Array.from(
      { length: Math.max(0, Math.min(limit + 1, length - from)) },
      (_, at) => from + at,
    );
    read += rows.length;
    const { cursorAfter, ...plain } = cutPage(rows, limit, (last) => cursor.encode([last]));
    return { ...plain, ...(knowsCursors && cursorAfter && { cursorAfter }) };
  };
  return { page, read: () => read, calls: () => calls };
}

describe("a page without hidden rows", () => {
  test("pages of any size are full and concatenate to the visible rows, and only the last has no cursor", () => {
    const lists = fc.record({
      length: fc.nat({ max: 400 }),
      limit: fc.integer({ min: 1, max: 30 }),
      hidden: fc.func(fc.boolean()),
      knowsCursors: fc.boolean(),
    });
    fc.assert(
      fc.property(lists, ({ length, limit, hidden, knowsCursors }) => {
        const isShown = (row: number) => !hidden(row);
        const { page } = listOf(length, { knowsCursors });
        const expected = Array.from({ length }, (_, at) => at).filter(isShown);
        const found: number[] = [];
        let after: readonly [number] | undefined;
        for (;;) {
          const { rows, cursor: next } = visiblePage(
            { limit, after, cursor },
            (all) => all.filter(isShown),
            page,
          );
          found.push(...rows);
          expect(next === null).toBe(found.length === expected.length);
          if (next === null) break;
          expect(rows.length).toBe(limit);
          after = cursor.decode(next);
        }
        expect(found).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  test("while rows are hidden and shown again between pages, none appears twice, and one that was always shown is not left out", () => {
    const walks = fc.record({
      length: fc.nat({ max: 200 }),
      limit: fc.integer({ min: 1, max: 20 }),
      hidden: fc.func(fc.boolean()),
      knowsCursors: fc.boolean(),
    });
    fc.assert(
      fc.property(walks, ({ length, limit, hidden, knowsCursors }) => {
        const { page } = listOf(length, { knowsCursors });
        const found: number[] = [];
        let after: readonly [number] | undefined;
        let pages = 0;
        for (;;) {
          const now = pages++;
          const isShown = (row: number) => !hidden(row, now);
          const { rows, cursor: next } = visiblePage(
            { limit, after, cursor },
            (all) => all.filter(isShown),
            page,
          );
          expect(rows.every(isShown)).toBe(true);
          found.push(...rows);
          if (next === null) break;
          expect(rows.length).toBe(limit);
          after = cursor.decode(next);
        }
        expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
        const always = Array.from({ length }, (_, at) => at).filter((row) =>
          Array.from({ length: pages }, (_, now) => hidden(row, now)).every((one) => !one),
        );
        expect(always.filter((row) => !found.includes(row))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("without rules it is one read of the list", () => {
    const { page, calls } = listOf(100);
    expect(visiblePage({ limit: 10, after: undefined, cursor }, undefined, page).rows.length).toBe(10);
    expect(calls()).toBe(1);
  });

  test("while nothing or little is hidden it is one read, of a quarter more rows", () => {
    for (const hidden of [[], [1, 5]]) {
      const { page, calls, read } = listOf(100);
      const isShown = (row: number) => !hidden.includes(row);
      const { rows } = visiblePage(
        { limit: 10, after: undefined, cursor },
        (all) => all.filter(isShown),
        page,
      );
      expect({ rows: rows.length, calls: calls(), read: read() }).toEqual({ rows: 10, calls: 1, read: 15 });
    }
  });

  test("a list whose rows are all hidden ends the page after a thousand rows, with a cursor that continues", () => {
    const { page, read } = listOf(100_000);
    const first = visiblePage({ limit: 10, after: undefined, cursor }, () => [], page);
    expect(first.rows).toEqual([]);
    expect(read()).toBeLessThan(1300);
    const next = cursor.decode(first.cursor ?? "");
    expect(next?.[0]).toBeGreaterThanOrEqual(1000);
    const second = visiblePage({ limit: 10, after: next, cursor }, (rows) => rows, page);
    expect(second.rows[0]).toBe((next?.[0] ?? 0) + 1);
  });

  test("a page that its query ended early ends there", () => {
    const { page, calls } = listOf(100);
    const early = (position: Position) => page({ ...position, limit: Math.min(position.limit, 3) });
    const { rows, cursor: next } = visiblePage({ limit: 10, after: undefined, cursor }, (all) => all, early);
    expect({ rows, calls: calls(), next: cursor.decode(next ?? "") }).toEqual({
      rows: [0, 1, 2],
      calls: 1,
      next: [2],
    });
  });
});
