import { ok, type Result } from "../../lib/result.ts";
import type { Key, KeyShape } from "../cursor.ts";
import {
  type Page,
  PageBuilder,
  type PageQuery,
  type PageSizes,
  pageSizeOf,
  type RowFormat,
  type TokenCodec,
} from "./page.ts";
import type { Refusal } from "./refusal.ts";
import { ROWS_PER_TURN, type Turns } from "./turns.ts";

/** Returns a page of a list that one index has in its order. */
export async function readKeyedList<Row, Shape extends KeyShape, Item>(
  list: {
    readonly tokens: TokenCodec<Shape>;
    readonly sizes: PageSizes;
    readonly keyOf: (row: Row) => Key<Shape>;
    /** Reads at most `limit` rows behind `after` or, without it, from the start. */
    readonly read: (after: Key<Shape> | undefined, limit: number, reverse: boolean) => readonly Row[];
    /** Whether a row belongs to the list. Default: all do. */
    readonly includes?: (row: Row) => boolean;
  },
  options: {
    readonly page: PageQuery;
    readonly format: RowFormat<Row, Item>;
    readonly turns: Turns;
  },
): Promise<Result<Page<Item>, Refusal>> {
  const { tokens, sizes, keyOf, read, includes = () => true } = list;
  const { page, format, turns } = options;
  const position = tokens.decode(page);
  if (!position.ok) return position;
  const reverse = page.reverse ?? false;
  const builder = new PageBuilder(pageSizeOf(page, sizes), format);
  let after = position.value;
  for (let isAtEnd = false; !isAtEnd && builder.wanted > 0; ) {
    const limit = Math.min(builder.wanted, ROWS_PER_TURN);
    const rows = read(after, limit, reverse);
    isAtEnd = rows.length < limit;
    for (const row of rows) {
      if (includes(row) && !builder.add(row)) break;
      after = keyOf(row);
      const turn = turns.next();
      if (turn) await turn;
    }
  }
  return ok(builder.finish((last) => tokens.encode(keyOf(last), reverse)));
}
