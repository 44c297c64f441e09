import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

const getStatement = statement<{ position: number }, [key: string]>(
  "positions.get",
  "SELECT position FROM positions WHERE key = ?",
);
const putStatement = statement<unknown, [key: string, position: number]>(
  "positions.put",
  "INSERT INTO positions (key, position) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET position = ?2",
);
const keysBetween = statement<{ key: string }, [from: string, to: string]>(
  "positions.keys",
  "SELECT key FROM positions WHERE key >= ? AND key < ?",
);
const dropBetween = statement<unknown, [from: string, to: string]>(
  "positions.drop",
  "DELETE FROM positions WHERE key >= ? AND key < ?",
);

/** Returns the position of the resumable work named `key`; undefined before its first step. */
export function getPosition(db: IndexDatabase, key: string): number | undefined {
  return db.get(getStatement, key)?.position;
}

/** Stores the position of resumable work inside the transaction of the work itself. */
export function putPosition(db: IndexDatabase, key: string, position: number): void {
  db.run(putStatement, key, position);
}

/** Returns the keys of all positions that start with a prefix of ASCII characters. */
export function positionKeys(db: IndexDatabase, prefix: string): string[] {
  return db.all(keysBetween, prefix, `${prefix}\uffff`).map(({ key }) => key);
}

/** Drops all positions that start with a prefix of ASCII characters. */
export function dropPositions(db: IndexDatabase, prefix: string): void {
  db.run(dropBetween, prefix, `${prefix}\uffff`);
}

/** A new position of resumable work, written in the transaction of a batch. */
export interface PositionUpdate {
  readonly key: string;
  readonly position: number;
}
