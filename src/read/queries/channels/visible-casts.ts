import { timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import type { CursorCodec, Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/casts.ts";
import { cursorAfter, LOWEST_HASH, newestCasts, type TimedKey } from "../ordered-page.ts";
import type { CastRules } from "./cast-rules.ts";

/** Rows that are read at a time, beyond those of the page. */
const MIN_ROWS = 4;
const MAX_ROWS = 200;
/** Rows that are looked at for a page. A page whose rows are mostly hidden ends there, with a cursor. */
const maxExamined = (limit: number) => Math.max(1000, 20 * limit);

/**
 * Returns a page of casts by time, as `castPage`, without those that rules hide. The page is full unless the list ends, or unless almost
 * all of its casts are hidden.
 *
 * @param read returns the ids below `below`, the greatest first
 */
export function visiblePage(
  db: IndexDatabase,
  query: {
    readonly limit: number;
    readonly after: TimedKey | undefined;
    readonly cursor: CursorCodec<readonly ["int", "hash"]>;
    /** Undefined where nothing is hidden. */
    readonly rules: CastRules | undefined;
  },
  read: (below: number, maxRows: number) => readonly CastRef[],
): Page<CastRef> {
  const { limit, after, cursor, rules } = query;
  let stoppedAtSecs: number | undefined;
  const readVisible = (below: number, maxRows: number): readonly CastRef[] => {
    const found = rules ? visibleBelow(rules, { below, maxRows, limit }, read) : undefined;
    stoppedAtSecs = found?.stoppedAtSecs;
    return found?.rows ?? read(below, maxRows);
  };
  const { rows, hasMore } = newestCasts(db, { limit, after }, readVisible);
  if (hasMore) return { rows, cursor: cursorAfter(db, rows.at(-1), cursor) };
  return {
    rows,
    cursor: stoppedAtSecs === undefined ? null : cursor.encode([stoppedAtSecs, LOWEST_HASH]),
  };
}

/** Returns visible rows, and the second after whose casts the reading stopped before the end of the list. */
function visibleBelow(
  rules: CastRules,
  { below, maxRows, limit }: { readonly below: number; readonly maxRows: number; readonly limit: number },
  read: (below: number, maxRows: number) => readonly CastRef[],
): { rows: CastRef[]; stoppedAtSecs: number | undefined } {
  const rows: CastRef[] = [];
  let from = below;
  let examined = 0;
  let firstSecs: number | undefined;
  for (let size = maxRows + MIN_ROWS; ; size = Math.min(2 * size, Math.max(MAX_ROWS, maxRows))) {
    const found = read(from, size);
    rows.push(...rules.visible(found));
    const last = found.at(-1);
    if (last === undefined || found.length < size || rows.length >= maxRows)
      return { rows: rows.slice(0, maxRows), stoppedAtSecs: undefined };
    from = last.id;
    examined += found.length;
    const lastSecs = timestampOfCastId(last.id);
    firstSecs ??= timestampOfCastId(found[0]?.id ?? last.id);
    // A second that was read in part is read again: its casts are ordered by hash.
    if (examined >= maxExamined(limit) && lastSecs < firstSecs) {
      const whole = rows.filter(({ id }) => timestampOfCastId(id) > lastSecs);
      return { rows: whole, stoppedAtSecs: lastSecs + 1 };
    }
  }
}
