import type { SqliteConnection } from "../sqlite/connection.ts";
import { statement } from "./sql.ts";
import { key, table, text, whole } from "./table.ts";

/** Where the state was moved to: a single row with `id` 1, present once the state must not be used any more. */
export const stateMove = table(
  "state_move",
  {
    id: key(whole()),
    /** For operators: `PostgreSQL at host:port/database`. */
    destination: text(),
    /** Unix seconds. */
    moved_at: whole(),
  },
  {
    isCopied: false,
    only: "sqlite",
  },
);

/** Where and when a state was moved. */
export interface StateMove {
  /** For operators. */
  readonly destination: string;
  /** Unix seconds. */
  readonly movedAt: number;
}

const findMove = statement<StateMove>(
  "state-move.find",
  "SELECT destination, moved_at AS movedAt FROM state_move WHERE id = 1",
);
const putMove = statement<unknown, [destination: string, movedAt: number]>(
  "state-move.put",
  `INSERT INTO state_move (id, destination, moved_at) VALUES (1, ?1, ?2)
   ON CONFLICT (id) DO UPDATE SET destination = ?1, moved_at = ?2`,
);

/** Returns where the state was moved; undefined while it is in use. */
export function stateMoveOf(db: SqliteConnection): StateMove | undefined {
  return db.get(findMove);
}

/** Marks a state as moved, so that no node starts with it any more. */
export function markMoved(db: SqliteConnection, { destination, movedAt }: StateMove): void {
  db.run(putMove, destination, movedAt);
}
