import { dirname } from "node:path";
import type { IndexDatabase } from "../database.ts";

/**
 * Makes sorts that exceed the page cache of a connection use files beside the index, which SQLite deletes when it opens
 * them. Returns a function that undoes it.
 */
export function sortIntoFiles(db: IndexDatabase): () => void {
  const { sqlite } = db;
  const before = sqlite.query<{ temp_store: number }, []>("PRAGMA temp_store").get()?.temp_store ?? 0;
  sqlite.exec("PRAGMA temp_store = FILE");
  if (hasFile(db)) setTemporaryDirectory(db, dirname(db.file));
  return () => {
    sqlite.exec(`PRAGMA temp_store = ${before}`);
    if (hasFile(db)) setTemporaryDirectory(db, "");
  };
}

/** An index in memory has no file. */
export function hasFile({ file }: IndexDatabase): boolean {
  return file !== ":memory:";
}

/**
 * Sets the directory of temporary files for the process. No other connection of the node creates any, because their
 * `temp_store` is the memory. A SQLite without this setting uses the system's directory.
 */
function setTemporaryDirectory({ sqlite }: IndexDatabase, path: string): void {
  sqlite.exec(`PRAGMA temp_store_directory = '${path.replaceAll("'", "''")}'`);
}
