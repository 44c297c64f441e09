import { ok, type Result } from "../../../lib/result.ts";
import { FARCASTER_EPOCH_UNIX_SECS, toUnixSecs } from "../../../protocol/time.ts";
import type { Key, KeyShape } from "../../cursor.ts";
import { hex } from "../../hydrate/casts.ts";
import {
  MESSAGE_PAGES,
  type Page,
  PageBuilder,
  type PageQuery,
  pageSizeOf,
  type RowFormat,
  type TokenCodec,
  tokenCodec,
} from "../page.ts";
import type { Refusal } from "../refusal.ts";
import type { StoredMessage } from "../stored-message.ts";
import type { Turns } from "../turns.ts";
import { MergedRows, type RowSource, type TimedRow } from "./merge-sources.ts";

/** A time range of a list in Farcaster seconds, both ends inclusive. */
export interface TimeRange {
  readonly startTimestamp?: number | undefined;
  readonly stopTimestamp?: number | undefined;
}

/** The order of the rows within one second. */
interface TieOrder<Row, Shape extends KeyShape> {
  /** Returns the position of a row, its time first. */
  keyOf(row: Row): Key<Shape>;
  /** Compares a row with a position in the same second. */
  compareKey(row: Row, key: Key<Shape>): number;
  compare(a: Row, b: Row): number;
}

/** A list ordered by time and then by `order`. */
export interface TimeList<Row extends TimedRow, Shape extends KeyShape> {
  readonly order: TieOrder<Row, Shape>;
  readonly tokens: TokenCodec<Shape>;
}

const LAST_SECOND = FARCASTER_EPOCH_UNIX_SECS + 0xffff_ffff;

/**
 * Returns a page of rows by time and, within a second, in the order of the list. Indexes have the rows of one second in
 * another order, so whole seconds are collected and sorted; of a large second, only as many rows as the page has room for
 * are kept.
 */
export async function readTimeList<Row extends TimedRow, Shape extends readonly ["int", ...KeyShape], Item>(
  { order, tokens }: TimeList<Row, Shape>,
  sources: readonly RowSource<Row>[],
  options: {
    readonly page: PageQuery & TimeRange;
    readonly format: RowFormat<Row, Item>;
    readonly turns: Turns;
  },
): Promise<Result<Page<Item>, Refusal>> {
  const { page, format, turns } = options;
  const position = tokens.decode(page);
  if (!position.ok) return position;
  const reverse = page.reverse ?? false;
  const after = position.value;
  const range = rangeOf(page);
  const builder = new PageBuilder(pageSizeOf(page, MESSAGE_PAGES), format);
  const second = new Second(order, reverse, builder);
  const edge = reverse ? range.last : range.first;
  const afterSecs = after === undefined ? edge : Number(after[0]);
  const fromSecs = reverse ? Math.min(edge, afterSecs) : Math.max(edge, afterSecs);
  // One more row shows that the last second has ended.
  const rows = await MergedRows.open(sources, { fromSecs, reverse, wanted: builder.wanted + 1, turns });
  for (let row = rows.next(); row; row = rows.next()) {
    const turn = turns.next();
    if (turn) await turn;
    if (row.at < range.first || row.at > range.last) break;
    if (row.at !== second.at && !second.startAt(row.at)) break;
    if (after !== undefined && row.at === after[0] && !isBehind(order.compareKey(row, after), reverse))
      continue;
    second.add(row);
  }
  second.flush();
  return ok(builder.finish((last) => tokens.encode(order.keyOf(last), reverse)));
}

function isBehind(comparison: number, reverse: boolean): boolean {
  return reverse ? comparison < 0 : comparison > 0;
}

function rangeOf({ startTimestamp, stopTimestamp }: TimeRange): { first: number; last: number } {
  return {
    first: startTimestamp === undefined ? 0 : Math.min(toUnixSecs(startTimestamp), LAST_SECOND + 1),
    last: stopTimestamp === undefined ? LAST_SECOND : Math.min(toUnixSecs(stopTimestamp), LAST_SECOND),
  };
}

/** The rows of the second that is being read. */
class Second<Row extends TimedRow, Item> {
  readonly #compare: (a: Row, b: Row) => number;
  readonly #builder: PageBuilder<Row, Item>;
  #rows: Row[] = [];
  at = -1;

  constructor(order: { compare(a: Row, b: Row): number }, reverse: boolean, builder: PageBuilder<Row, Item>) {
    this.#compare = reverse ? (a, b) => order.compare(b, a) : (a, b) => order.compare(a, b);
    this.#builder = builder;
  }

  /** Ends the previous second. Returns false if the page is full. */
  startAt(at: number): boolean {
    this.flush();
    this.at = at;
    return this.#builder.wanted > 0;
  }

  add(row: Row): void {
    this.#rows.push(row);
    const { wanted } = this.#builder;
    if (this.#rows.length >= 2 * wanted + 64) this.#rows = this.#sorted().slice(0, wanted);
  }

  /** Adds the rows of the second to the page. */
  flush(): void {
    for (const row of this.#sorted()) if (!this.#builder.add(row)) break;
    this.#rows = [];
  }

  #sorted(): Row[] {
    return this.#rows.length > 1 ? this.#rows.sort(this.#compare) : this.#rows;
  }
}

/** The order of messages of one fid: time, then hash. */
type HashShape = readonly ["int", "hash"];
/**
 * The order of reactions and links to a target: time, then the fid that sent them, then the type, because one fid may like
 * and recast.
 */
type SenderShape = readonly ["int", "int", "int"];

const byHash: TieOrder<StoredMessage, HashShape> = {
  keyOf: ({ at, hash }) => [at, hex(hash)],
  compareKey: ({ hash }, key) => Buffer.compare(hash, Buffer.from(key[1].slice(2), "hex")),
  compare: (a, b) => Buffer.compare(a.hash, b.hash),
};

const bySender: TieOrder<StoredMessage, SenderShape> = {
  keyOf: (message) => [message.at, message.fid, typeOf(message)],
  compareKey: (message, key) => message.fid - key[1] || typeOf(message) - key[2],
  compare: (a, b) => a.fid - b.fid || typeOf(a) - typeOf(b),
};

/** Returns the type of a reaction; 0 for other messages, of which one fid sends only one to a target. */
function typeOf({ columns }: StoredMessage): number {
  return columns.table === "reactions" ? columns.type : 0;
}

/** @param name unique name of the list in its tokens. */
export function listByHash(name: string): TimeList<StoredMessage, HashShape> {
  return { order: byHash, tokens: tokenCodec(name, ["int", "hash"]) as TokenCodec<HashShape> };
}

/** @param name unique name of the list in its tokens. */
export function listBySender(name: string): TimeList<StoredMessage, SenderShape> {
  return { order: bySender, tokens: tokenCodec(name, ["int", "int", "int"]) as TokenCodec<SenderShape> };
}
