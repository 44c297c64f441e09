import type { IndexDatabase } from "../db/index/database.ts";
import { parseJson } from "../lib/json.ts";

/**
 * Cursors are keyset positions: a cursor contains the sort key of the last row of a page. Inserting or deleting rows between
 * two pages never repeats or skips a row that stays. Wire format: base64url of a version byte, a tag of the list, and
 * the key as JSON, with texts in base64url: escaped control characters could make a cursor too long. The format is opaque
 * outside this file.
 */

const VERSION = 1;
/** Keys of version 1 had their texts as they are, and some of those would be read as other texts. */
const VERSION_WITH_TEXTS = 2;
const TAG_BYTES = 4;
/** Enough for a key with a text of 256 bytes, the protocol's limit of a URL. */
const MAX_CURSOR_CHARS = 512;

/**
 * The types of a key's parts, in order. `hash` is hex with `0x`, `word` is printable ASCII that JSON does not escape, such as other hex, and
 * `text` is any text.
 */
export type KeyShape = readonly ("int" | "hash" | "word" | "text")[];

type KeyPart<Kind> = Kind extends "int" ? number : Kind extends "hash" ? `0x${string}` : string;
export type Key<Shape extends KeyShape> = { readonly [At in keyof Shape]: KeyPart<Shape[At]> };

/** The cursors of one list. */
export interface CursorCodec<Shape extends KeyShape> {
  encode(key: Key<Shape>): string;
  /** Decodes a cursor. Returns undefined for any text that `encode` of this list does not produce. */
  decode(cursor: string): Key<Shape> | undefined;
}

/**
 * Creates the cursor codec of a list. Cursors of other lists do not decode. Endpoints that serve the same list, such as `/user/best_friends`
 * and `/followers/reciprocal`, share its cursors.
 */
export function cursorCodec<const Shape extends KeyShape>(list: string, shape: Shape): CursorCodec<Shape> {
  const head = Buffer.alloc(1 + TAG_BYTES);
  head.writeUInt8(shape.includes("text") ? VERSION_WITH_TEXTS : VERSION);
  head.writeUInt32LE(Number(Bun.hash.xxHash64(list) & 0xffff_ffffn), 1);
  return {
    encode(key) {
      const packed = key.map((part, at) => (shape[at] === "text" ? packText(String(part)) : part));
      return Buffer.concat([head, Buffer.from(JSON.stringify(packed))]).toString("base64url");
    },
    decode(cursor) {
      if (cursor.length > MAX_CURSOR_CHARS) return undefined;
      const bytes = Buffer.from(cursor, "base64url");
      // Rejects a different base64url spelling of the same bytes.
      if (bytes.toString("base64url") !== cursor) return undefined;
      if (!bytes.subarray(0, head.length).equals(head)) return undefined;
      const key = parseJson(bytes.subarray(head.length).toString("utf8"));
      if (!fits(key, shape)) return undefined;
      return key.map((part, at) => (shape[at] === "text" ? unpackText(String(part)) : part)) as Key<Shape>;
    },
  };
}

function fits<Shape extends KeyShape>(key: unknown, shape: Shape): key is Key<Shape> {
  return (
    Array.isArray(key) && key.length === shape.length && shape.every((kind, at) => isPart(key[at], kind))
  );
}

function isPart(part: unknown, kind: KeyShape[number]): boolean {
  if (kind === "int") return Number.isSafeInteger(part);
  if (typeof part !== "string") return false;
  if (kind === "hash") return /^0x[0-9a-f]{40}$/.test(part);
  return kind === "word" ? /^[ !#-[\]-~]*$/.test(part) : packText(unpackText(part)) === part;
}

function packText(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function unpackText(packed: string): string {
  return Buffer.from(packed, "base64url").toString("utf8");
}

/** One page of a list: its rows, and the cursor of the next page, null at the end. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly cursor: string | null;
  /** Returns the cursor after one of the rows. Absent if only the cursor of the whole page is known. */
  cursorAfter?(row: Row): string | null;
}

/**
 * Cuts a page out of the rows of a query. The query selects one row more than fits on the page, which distinguishes the last
 * page from a full one.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): Page<Row> {
  if (rows.length <= limit) return { rows, cursor: null, cursorAfter: cursorOf };
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, cursor: last === undefined ? null : cursorOf(last), cursorAfter: cursorOf };
}

/** A part of a list: at most `limit` rows after a position. */
export interface PagePosition<Shape extends KeyShape> {
  readonly limit: number;
  readonly after: Key<Shape> | undefined;
}

/** A requested page, with the cursors of its list. */
export interface ListPage<Shape extends KeyShape> extends PagePosition<Shape> {
  readonly cursor: CursorCodec<Shape>;
}

/** A list that is read page by page, with the cursors of its positions. */
export interface PagedList<Shape extends KeyShape, Row, Query> {
  (db: IndexDatabase, query: Query & PagePosition<Shape>): Page<Row>;
  readonly cursor: CursorCodec<Shape>;
}

/** Declares a list whose pages are returned by `find`. */
export function listOf<Shape extends KeyShape, Row, Query>(
  cursor: CursorCodec<Shape>,
  find: (db: IndexDatabase, query: Query, page: ListPage<Shape>) => Page<Row>,
): PagedList<Shape, Row, Query> {
  const read = (db: IndexDatabase, query: Query & PagePosition<Shape>) => {
    const { limit, after } = query;
    return find(db, query, { limit, after, cursor });
  };
  return Object.assign(read, { cursor });
}

/**
 * Declares a list whose pages are cut out of the rows of a query.
 *
 * @param rows returns one row more than fits on the page, which distinguishes the last page from a full one.
 * @param keyOf returns the position of a row.
 */
export function pagedList<const Shape extends KeyShape, Row, Query>(
  cursor: CursorCodec<Shape>,
  rows: (db: IndexDatabase, query: Query, page: PagePosition<Shape>) => readonly Row[],
  keyOf: (row: Row) => Key<Shape>,
): PagedList<Shape, Row, Query> {
  const cursorOf = (row: Row) => cursor.encode(keyOf(row));
  return listOf(cursor, (db, query, { limit, after }) =>
    cutPage(rows(db, query, { limit: limit + 1, after }), limit, cursorOf),
  );
}
