import type { KeyShape, ListPage, Page, PagePosition } from "../cursor.ts";

/** Maximum number of rows read at a time, except for a larger page. */
const MAX_ROWS = 200;
const MAX_ROUNDS = 10;
/** Returns the maximum number of rows examined for a page. A page whose rows are mostly hidden ends there, with a cursor. */
const maxExamined = (limit: number) => Math.max(1000, 20 * limit);

/** Returns the rows that are shown, in their order. */
export type SelectVisible<Row> = (rows: readonly Row[]) => readonly Row[];

/**
 * Returns a page without the rows that rules hide. Continues to read until the page is full and another visible row is
 * known, so that the cursor is null exactly at the end. A page whose rows are mostly hidden ends earlier, after the rows
 * that were examined; so does a page for which the query itself ended early.
 *
 * @param visible undefined if nothing is hidden.
 * @param read returns a page of the whole list.
 */
export function visiblePage<Shape extends KeyShape, Row>(
  query: ListPage<Shape>,
  visible: SelectVisible<NoInfer<Row>> | undefined,
  read: (page: PagePosition<Shape>) => Page<Row>,
): Page<Row> {
  const { limit, cursor: codec } = query;
  if (!visible) return read({ limit, after: query.after });
  const shown: Row[] = [];
  let after = query.after;
  // Slightly more than the page, so that a few hidden rows do not cost a second read of the list.
  let size = limit + 1 + Math.ceil(limit / 4);
  let examined = 0;
  /** The cursor after the last row of a full page, which may never be needed. */
  let cursorOfFull: () => string | null = () => null;
  for (let round = 1; ; round++) {
    const page = read({ limit: size, after });
    const kept = new Set(visible(page.rows));
    for (const [at, row] of page.rows.entries()) {
      if (!kept.has(row)) continue;
      if (shown.length === limit) return { ...page, rows: shown, cursor: cursorOfFull() };
      shown.push(row);
      if (shown.length === limit) {
        const from = after;
        cursorOfFull = () => {
          if (page.cursorAfter) return page.cursorAfter(row);
          return at + 1 === page.rows.length ? page.cursor : read({ limit: at + 1, after: from }).cursor;
        };
      }
    }
    if (page.cursor === null) return { ...page, rows: shown };
    examined += page.rows.length;
    if (page.rows.length < size || round === MAX_ROUNDS || examined >= maxExamined(limit))
      return { ...page, rows: shown, cursor: shown.length === limit ? cursorOfFull() : page.cursor };
    after = codec.decode(page.cursor);
    size = Math.max(limit + 1, Math.min(2 * size, MAX_ROWS));
  }
}
