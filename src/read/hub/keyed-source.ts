import { statement } from "../../db/index/statement.ts";
import type { Statement } from "../../db/sqlite/statement-registry.ts";
import type { RowCursor, RowSource } from "./merge-sources.ts";
import type { StoredMessage } from "./stored-message.ts";

type Value = number | string | Uint8Array;

/** The forward and the backward form of a statement. */
export interface BothWays<Row, Params extends readonly Value[]> {
  readonly forward: Statement<Row, Params>;
  readonly backward: Statement<Row, Params>;
}

/** Declares both forms of a statement: `behind` compares with a position, `direction` sorts. */
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

/** A source that continues behind the key of its last row. */
export function keyedSource<Row, Position extends readonly number[]>(options: {
  /** The position before all rows of a second, or behind them. */
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
