import TinyQueue from "tinyqueue";
import { statement } from "../../../db/index/statement.ts";
import type { Statement } from "../../../db/sqlite/statement-registry.ts";
import type { StoredMessage } from "../stored-message.ts";
import { ROWS_PER_TURN, type Turns } from "../turns.ts";

/** A row with its time in Unix seconds. */
export interface TimedRow {
  readonly at: number;
}

/**
 * Rows of one index in the order of their time. A list that no single index contains merges several. The order of rows
 * within one second is the index's own.
 */
export interface RowSource<Row extends TimedRow> {
  /** Opens the rows from the second `fromSecs` upwards or, if `reverse` is set, downwards. */
  open(fromSecs: number, reverse: boolean): RowCursor<Row>;
}

interface RowCursor<Row extends TimedRow> {
  /** Returns at most `limit` of the next rows. Fewer rows mean that the source has ended. */
  read(limit: number): readonly Row[];
}

/** The first read of each source is as long as a page that one source could fill, within these bounds. */
const MIN_ROWS_READ = 16;

interface Opened<Row extends TimedRow> {
  readonly cursor: RowCursor<Row>;
  rows: readonly Row[];
  next: number;
  limit: number;
  rowsRead: number;
  isAtEnd: boolean;
}

/**
 * The rows of several sources by time. Each source is read in slices, each starting after the last row of the previous one.
 */
export class MergedRows<Row extends TimedRow> {
  readonly #queue: TinyQueue<Opened<Row>>;
  #nearest: Opened<Row> | undefined;

  private constructor(opened: Opened<Row>[], sign: number) {
    this.#queue = new TinyQueue(opened, (a, b) => sign * (timeOf(a) - timeOf(b)));
    this.#nearest = this.#queue.pop();
  }

  /**
   * Opens the sources, and lets other work of the thread run in between.
   *
   * @param wanted the number of rows that will probably be taken.
   */
  static async open<Row extends TimedRow>(
    sources: readonly RowSource<Row>[],
    options: { fromSecs: number; reverse: boolean; wanted: number; turns: Turns },
  ): Promise<MergedRows<Row>> {
    const { fromSecs, reverse, wanted, turns } = options;
    const limit = Math.max(Math.ceil(wanted / Math.max(sources.length, 1)), MIN_ROWS_READ);
    const all: Opened<Row>[] = [];
    for (const source of sources) {
      const cursor = source.open(fromSecs, reverse);
      const first = Math.min(limit, ROWS_PER_TURN);
      const opened = { cursor, rows: [], next: 0, limit: first, rowsRead: 0, isAtEnd: false };
      if (refill(opened)) all.push(opened);
      const turn = turns.next();
      if (turn) await turn;
    }
    return new MergedRows(all, reverse ? -1 : 1);
  }

  next(): Row | undefined {
    const nearest = this.#nearest;
    if (nearest === undefined) return undefined;
    if (nearest.next === nearest.rows.length) {
      // The slice is read only now, because most pages end before it.
      if (refill(nearest)) this.#queue.push(nearest);
      this.#nearest = this.#queue.pop();
      return this.next();
    }
    const row = nearest.rows[nearest.next++];
    const second = this.#queue.peek();
    if (second !== undefined && nearest.next < nearest.rows.length) {
      this.#queue.push(nearest);
      this.#nearest = this.#queue.pop();
    }
    return row;
  }
}

function timeOf<Row extends TimedRow>({ rows, next }: Opened<Row>): number {
  return rows[next]?.at ?? 0;
}

/** Reads the next slice. Returns false at the end of the source. */
function refill<Row extends TimedRow>(opened: Opened<Row>): boolean {
  if (opened.isAtEnd) return false;
  opened.rows = opened.cursor.read(opened.limit);
  opened.next = 0;
  opened.isAtEnd = opened.rows.length < opened.limit;
  opened.rowsRead += opened.rows.length;
  // As many again as were read so far, so that few rows are read needlessly and a long list is read in long slices.
  opened.limit = Math.min(opened.rowsRead, ROWS_PER_TURN);
  return opened.rows.length > 0;
}

type Value = number | string | Uint8Array;

/** The forward and the backward form of a statement. */
export interface BothWays<Row, Params extends readonly Value[]> {
  readonly forward: Statement<Row, Params>;
  readonly backward: Statement<Row, Params>;
}

/** Declares both forms of a statement. `behind` is the comparison with a position, `direction` the sort order. */
export function bothWays<Row, Params extends readonly Value[]>(
  name: string,
  sql: (behind: ">" | "<", direction: "ASC" | "DESC") => string,
): BothWays<Row, Params> {
  return {
    forward: statement<Row, Params>(`hub.${name}`, sql(">", "ASC")),
    backward: statement<Row, Params>(`hub.${name}-reversed`, sql("<", "DESC")),
  };
}

export function pick<Row, Params extends readonly Value[]>(
  { forward, backward }: BothWays<Row, Params>,
  reverse: boolean,
): Statement<Row, Params> {
  return reverse ? backward : forward;
}

/** Returns a source that continues after the key of its last row. */
export function keyedSource<Row, Position extends readonly number[]>(options: {
  /** Returns the position before all rows of a second, or after them. */
  edge: (at: number, end: number) => Position;
  keyOf: (row: Row) => Position;
  read: (position: Position, limit: number, reverse: boolean) => Row[];
  show: (row: Row) => StoredMessage;
}): RowSource<StoredMessage> {
  const { edge, keyOf, read, show } = options;
  return {
    open(fromSecs, reverse): RowCursor<StoredMessage> {
      let position = edge(fromSecs, reverse ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER);
      return {
        read(limit) {
          const rows = read(position, limit, reverse);
          const last = rows.at(-1);
          if (last !== undefined) position = keyOf(last);
          return rows.map(show);
        },
      };
    },
  };
}
