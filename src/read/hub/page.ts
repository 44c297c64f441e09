import { ok, type Result } from "../../lib/result.ts";
import { type CursorCodec, cursorCodec, type Key, type KeyShape } from "../cursor.ts";
import { invalidParam, type Refusal } from "./refusal.ts";
import { ROWS_PER_TURN, type Turns } from "./turns.ts";

/** The common fields of list requests. */
export interface PageQuery {
  /** Absent or 0 means the default of the list. Values above its maximum mean the maximum. */
  readonly pageSize?: number | undefined;
  /** The token of the previous page. Empty means the first page. */
  readonly pageToken?: Uint8Array | undefined;
  /** Newest first. */
  readonly reverse?: boolean | undefined;
}

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The token of the next page; undefined on the last. */
  readonly nextToken: Uint8Array | undefined;
}

/** How an interface presents the rows of a list, and how much each adds to the size of the response. */
export interface RowFormat<Row, Item> {
  readonly show: (row: Row) => Item;
  readonly bytesOf: (item: Item) => number;
}

/** Default and maximum number of rows of a page. */
interface PageSizes {
  readonly byDefault: number;
  readonly max: number;
}

/** The reference node's default. The reference node has no maximum. */
export const MESSAGE_PAGES: PageSizes = { byDefault: 10_000, max: 10_000 };
export const EVENT_PAGES: PageSizes = { byDefault: 1000, max: 10_000 };

/** gRPC clients receive at most 4 MiB by default. */
const MAX_PAGE_BYTES = 3.5 * 1024 * 1024;
/** A text of 512 characters is the longest that a cursor codec accepts. */
const MAX_TOKEN_BYTES = 384;

const INVALID_TOKEN = invalidParam("invalid page_token");

/** The tokens of a list. Tokens of another list, or of the other direction, are invalid. */
export interface TokenCodec<Shape extends KeyShape> {
  encode(key: Key<Shape>, reverse: boolean): Uint8Array;
  /** Decodes the token of a request. Undefined means the first page. */
  decode(query: PageQuery): Result<Key<Shape> | undefined, Refusal>;
}

/** @param list unique name of the list. */
export function tokenCodec<const Shape extends KeyShape>(list: string, shape: Shape): TokenCodec<Shape> {
  const forward = cursorCodec(`hub ${list}`, shape);
  const backward = cursorCodec(`hub ${list} reversed`, shape);
  const codecOf = (reverse = false): CursorCodec<Shape> => (reverse ? backward : forward);
  return {
    encode: (key, reverse) => Buffer.from(codecOf(reverse).encode(key), "base64url"),
    decode({ pageToken, reverse }) {
      if (pageToken === undefined || pageToken.length === 0) return ok(undefined);
      if (pageToken.length > MAX_TOKEN_BYTES) return INVALID_TOKEN;
      const key = codecOf(reverse).decode(Buffer.from(pageToken).toString("base64url"));
      return key === undefined ? INVALID_TOKEN : ok(key);
    },
  };
}

/** Returns the number of rows that a request asks for. */
export function pageSizeOf({ pageSize = 0 }: PageQuery, { byDefault, max }: PageSizes): number {
  return Math.min(pageSize === 0 ? byDefault : pageSize, max);
}

/** A page that is being filled. It ends at its number of rows, or before it exceeds the size that clients accept. */
export class PageBuilder<Row, Item> {
  readonly #format: RowFormat<Row, Item>;
  readonly #maxRows: number;
  readonly #items: Item[] = [];
  #bytes = 0;
  #last: Row | undefined;
  #hasMore = false;

  constructor(maxRows: number, format: RowFormat<Row, Item>) {
    this.#maxRows = maxRows;
    this.#format = format;
  }

  /** Number of rows that may still be needed: those of the page, and one that shows that it is not the last. */
  get wanted(): number {
    return this.#hasMore ? 0 : this.#maxRows + 1 - this.#items.length;
  }

  /** Adds the next row. Returns false if the page ends before it. */
  add(row: Row): boolean {
    if (this.#items.length >= this.#maxRows) return this.#end();
    const item = this.#format.show(row);
    const bytes = this.#format.bytesOf(item);
    // The first row is always sent, whatever its size.
    if (this.#items.length > 0 && this.#bytes + bytes > MAX_PAGE_BYTES) return this.#end();
    this.#items.push(item);
    this.#bytes += bytes;
    this.#last = row;
    return true;
  }

  /** @param tokenOf returns the token of the page that follows a row. */
  finish(tokenOf: (last: Row) => Uint8Array): Page<Item> {
    const isLast = !this.#hasMore || this.#last === undefined;
    return {
      items: this.#items,
      nextToken: isLast || this.#last === undefined ? undefined : tokenOf(this.#last),
    };
  }

  #end(): false {
    this.#hasMore = true;
    return false;
  }
}

/** A page without rows. */
export const EMPTY_PAGE: Page<never> = { items: [], nextToken: undefined };

/** Returns a page of a list for which a single index has the right order. */
export async function readKeyedList<Row, Shape extends KeyShape, Item>(
  list: {
    readonly tokens: TokenCodec<Shape>;
    readonly sizes: PageSizes;
    readonly keyOf: (row: Row) => Key<Shape>;
    /** Reads at most `limit` rows after `after` or, without it, from the start. */
    readonly read: (after: Key<Shape> | undefined, limit: number, reverse: boolean) => readonly Row[];
    /** Reports whether a row belongs to the list. Default: all do. */
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
