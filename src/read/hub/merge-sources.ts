import TinyQueue from "tinyqueue";
import { ROWS_PER_TURN, type Turns } from "./turns.ts";

/** A row with its time in unix seconds. */
export interface TimedRow {
  readonly at: number;
}

/**
 * Rows that one index has in the order of their time. A list that no single index holds merges several. The order of rows of
 * one second is the index's own.
 */
export interface RowSource<Row extends TimedRow> {
  /** Opens the rows of the seconds from `fromSecs` on or, if `reverse` is set, down from it. */
  open(fromSecs: number, reverse: boolean): RowCursor<Row>;
}

export interface RowCursor<Row extends TimedRow> {
  /** Returns at most `limit` of the next rows. Fewer are the last ones. */
  read(limit: number): readonly Row[];
}

/** The first read of each source is as long as a page that one source could fill, within these bounds. */
const MIN_ROWS_READ = 16;

interface Opened<Row extends TimedRow> {
  readonly cursor: RowCursor<Row>;
  rows: readonly Row[];
  next: number;
  limit: number;
  isAtEnd: boolean;
}

/**
 * Returns the rows of all sources by time. Each is read in slices, behind the last row of the slice before, and other work of
 * the thread runs in between.
 *
 * @param wanted the number of rows that are probably taken.
 */
export async function* mergeSources<Row extends TimedRow>(
  sources: readonly RowSource<Row>[],
  options: { fromSecs: number; reverse: boolean; wanted: number; turns: Turns },
): AsyncGenerator<Row> {
  const { fromSecs, reverse, wanted, turns } = options;
  const sign = reverse ? -1 : 1;
  const first = Math.max(Math.ceil(wanted / Math.max(sources.length, 1)), MIN_ROWS_READ);
  const timeOf = ({ rows, next }: Opened<Row>) => rows[next]?.at ?? 0;
  const queue = new TinyQueue<Opened<Row>>([], (a, b) => sign * (timeOf(a) - timeOf(b)));
  for (const source of sources) {
    const opened: Opened<Row> = {
      cursor: source.open(fromSecs, reverse),
      rows: [],
      next: 0,
      limit: Math.min(first, ROWS_PER_TURN),
      isAtEnd: false,
    };
    if (refill(opened)) queue.push(opened);
    const turn = turns.next();
    if (turn) await turn;
  }
  for (let nearest = queue.pop(); nearest; nearest = queue.pop()) {
    const row = nearest.rows[nearest.next++];
    if (row !== undefined) yield row;
    if (nearest.next < nearest.rows.length || refill(nearest)) queue.push(nearest);
    const turn = turns.next();
    if (turn) await turn;
  }
}

/** Reads the next slice. Returns false at the end of the source. */
function refill<Row extends TimedRow>(opened: Opened<Row>): boolean {
  if (opened.isAtEnd) return false;
  opened.rows = opened.cursor.read(opened.limit);
  opened.next = 0;
  opened.isAtEnd = opened.rows.length < opened.limit;
  opened.limit = ROWS_PER_TURN;
  return opened.rows.length > 0;
}
