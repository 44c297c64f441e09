import { firstCastIdAt, timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { type CursorCodec, cursorCodec, type Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/cast-ids.ts";
import { hex } from "../../hydrate/casts.ts";
import { cursorAfter, HIGHEST_HASH, LOWEST_HASH, orderedPage, type TimedKey } from "../ordered-page.ts";
import { type MatchRow, type Order, type ScanRequest, scanMatches } from "./search-scan.ts";

/** Ids of casts were the time, then 20 bits of the hash, when cursors of searches held an id. */
const FORMER_IDS_PER_SECOND = 2 ** 20;

/**
 * Creates the cursor codec of a search. Cursors of the release before held the id of a row. They are read by the time in it, so
 * that the casts of that second may repeat.
 */
export function searchCursor(endpoint: string, order: Order): CursorCodec<readonly ["int", "hash"]> {
  const codec = cursorCodec(endpoint, ["int", "hash"]);
  const former = cursorCodec(endpoint, ["int"]);
  return {
    encode: codec.encode,
    decode(cursor) {
      const key = codec.decode(cursor);
      const [id] = key ? [] : (former.decode(cursor) ?? []);
      if (id === undefined) return key;
      return [Math.floor(id / FORMER_IDS_PER_SECOND), order === "chron" ? LOWEST_HASH : HIGHEST_HASH];
    },
  };
}

/** Returns a page of the casts of a range of ids that match a query and filters. */
export function searchPage(
  db: IndexDatabase,
  search: ScanRequest & {
    readonly after: TimedKey | undefined;
    readonly cursor: CursorCodec<readonly ["int", "hash"]>;
  },
): Page<CastRef> {
  const { order, limit, after, cursor } = search;
  let { above, below } = search;
  if (after && order === "chron") above = Math.max(above, firstCastIdAt(after[0]) - 1);
  if (after && order === "desc_chron") below = Math.min(below, firstCastIdAt(after[0] + 1));
  let stoppedAt: number | undefined;
  const { rows, hasMore } = orderedPage<MatchRow>({
    limit,
    after: after && { hash: after[1], isTied: ({ id }) => timestampOfCastId(id) === after[0] },
    direction: order === "chron" ? "asc" : "desc",
    isTied: (a, b) => timestampOfCastId(a.id) === timestampOfCastId(b.id),
    read(maxRows) {
      const found = scanMatches(db, { ...search, above, below, limit: maxRows });
      stoppedAt = found.stoppedAt;
      return found.rows;
    },
    hashesOf: (tied) => tied.map(({ hash }) => hex(hash)),
  });
  const last = hasMore ? rows.at(-1) : stoppedAt === undefined ? undefined : { id: stoppedAt };
  return { rows, cursor: cursorAfter(db, last, cursor) };
}
