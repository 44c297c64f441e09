import type { TestApi } from "../support/api.ts";
import type { Generator } from "./actions.ts";
import { type Difference, pageQuery } from "./check.ts";
import type { Action } from "./facts.ts";
import type { View } from "./view.ts";

/** Pages through a list that changes between the pages. */

/** A row of a list: its id in the response and its position. A row that moves counts as another row. */
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
  /** Writes that change this list, in addition to random ones. */
  readonly writes: (generator: Generator, view: View) => readonly Action[];
}

const PAGE = 3;

/** Writes may insert rows below the cursor repeatedly; this bounds the number of pages. */
const MAX_PAGES = 500;

/**
 * Reads all pages, with writes after every page. Rows that stay at the same position from the first page to the last must
 * appear exactly once and in order, whatever other rows are added and removed.
 * @param writeAndView applies the list's writes to node and model, and returns the new view of the model
 */
export async function pageWhileWriting(
  api: TestApi,
  list: ChangingList,
  before: View,
  writeAndView: () => View,
): Promise<{ difference?: Difference; pages: number; lasted: number; went: number }> {
  const order = list.rows(before);
  const lasting = new Map(order.map(({ id, position }) => [id, String(position)]));
  const seen: string[] = [];
  let cursor: string | null | undefined;
  let pages = 0;
  for (; cursor !== null; pages++) {
    const request = `${list.path}?${pageQuery(list.query, PAGE, cursor)}`;
    const { status, body } = await api.get(request);
    if (status !== 200 || pages > MAX_PAGES)
      return {
        difference: { request, expected: 200, got: { status, body, pages } },
        pages,
        lasted: 0,
        went: 0,
      };
    seen.push(...list.idsOf(body as never));
    cursor = (body.next as { cursor: string | null }).cursor;
    if (cursor === null) break;
    const now = new Map(list.rows(writeAndView()).map(({ id, position }) => [id, String(position)]));
    for (const [id, position] of lasting) if (now.get(id) !== position) lasting.delete(id);
  }
  const expected = order.map(({ id }) => id).filter((id) => lasting.has(id));
  const got = seen.filter((id) => lasting.has(id));
  const counts = { pages, lasted: lasting.size, went: order.length - lasting.size };
  if (Bun.deepEquals(got, expected)) return counts;
  const request = `pages of ${list.path}?${list.query} while it changes`;
  return { difference: { request, expected, got }, ...counts };
}
