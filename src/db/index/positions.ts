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

/** The position of the resumable work named `key`; undefined before its first step. */
export function getPosition(db: IndexDatabase, key: string): number | undefined {
  return db.get(getStatement, key)?.position;
}

/** Stores the position of resumable work, inside the transaction of the work itself. */
export function putPosition(db: IndexDatabase, key: string, position: number): void {
  db.run(putStatement, key, position);
}
