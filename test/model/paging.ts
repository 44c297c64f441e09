import type { TestApi } from "../support/api.ts";
import type { Generator } from "./actions.ts";
import { type Difference, pageQuery } from "./check.ts";
import type { Action } from "./facts.ts";
import type { View } from "./view.ts";

/** Walks through a list that changes between the pages. */

/** A row of a list: what names it in the answer, and where it stands; a row that moves is another one. */
export interface Row {
  readonly id: string;
  readonly position?: unknown;
}

export interface ChangingList {
  readonly path: string;
  readonly query: string;
  readonly rows: (view: View) => readonly Row[];
  /** The ids of the rows of a page, in order. */
  readonly idsOf: (body: never) => readonly string[];
  /** What changes this very list, beside what happens anyway. */
  readonly writes: (generator: Generator, view: View) => readonly Action[];
}

const PAGE = 3;

/** Rows may be put in below the cursor again and again, but not without end. */
const MAX_PAGES = 500;

/**
 * Walks to the end, with writes after every page. Rows that are there in the same position from the first page to the last
 * must come exactly once and in order, whatever else comes and goes.
 * @param writeAndLook plays the walk's writes into node and model, and answers what the model shows then
 */
export async function pageWhileWriting(
  api: TestApi,
  walk: ChangingList,
  before: View,
  writeAndLook: () => View,
): Promise<{ difference?: Difference; pages: number; lasted: number; went: number }> {
  const order = walk.rows(before);
  const lasting = new Map(order.map(({ id, position }) => [id, String(position)]));
  const seen: string[] = [];
  let cursor: string | null | undefined;
  let pages = 0;
  for (; cursor !== null; pages++) {
    const request = `${walk.path}?${pageQuery(walk.query, PAGE, cursor)}`;
    const { status, body } = await api.get(request);
    if (status !== 200 || pages > MAX_PAGES)
      return {
        difference: { request, expected: 200, got: { status, body, pages } },
        pages,
        lasted: 0,
        went: 0,
      };
    seen.push(...walk.idsOf(body as never));
    cursor = (body.next as { cursor: string | null }).cursor;
    if (cursor === null) break;
    const now = new Map(walk.rows(writeAndLook()).map(({ id, position }) => [id, String(position)]));
    for (const [id, position] of lasting) if (now.get(id) !== position) lasting.delete(id);
  }
  const expected = order.map(({ id }) => id).filter((id) => lasting.has(id));
  const got = seen.filter((id) => lasting.has(id));
  const counts = { pages, lasted: lasting.size, went: order.length - lasting.size };
  if (Bun.deepEquals(got, expected)) return counts;
  const request = `walk of ${walk.path}?${walk.query} while it changes`;
  return { difference: { request, expected, got }, ...counts };
}
