import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

const getMeta = statement<{ value: string }, [key: string]>(
  "meta.get",
  "SELECT value FROM meta WHERE key = ?",
);
const putMeta = statement<unknown, [key: string, value: string]>(
  "meta.put",
  "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
);
const dropMeta = statement<unknown, [key: string]>("meta.drop", "DELETE FROM meta WHERE key = ?");

/** Returns a property of the whole index. */
export function readMeta(db: IndexDatabase, key: string): string | undefined {
  return db.get(getMeta, key)?.value;
}

export function writeMeta(db: IndexDatabase, key: string, value: string): void {
  db.run(putMeta, key, value);
}

export function clearMeta(db: IndexDatabase, key: string): void {
  db.run(dropMeta, key);
}
