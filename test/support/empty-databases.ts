import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { openState, type StateDatabase, statePath } from "../../src/db/state/database.ts";

/** Empty databases as files, migrated once for many tests: the migrations take longer than most tests. */
let emptyIndex: Buffer | undefined;
let emptyState: Buffer | undefined;

/** Creates an empty index in a directory and opens it. */
export function createIndex(dir: string): IndexDatabase {
  emptyIndex ??= migrated((path) => openIndexWriter(indexPath(path)), indexPath);
  writeFileSync(indexPath(dir), emptyIndex);
  return openIndexWriter(indexPath(dir));
}

/** Creates an empty state in a directory and opens it. */
export function createState(dir: string): StateDatabase {
  emptyState ??= migrated((path) => openState(statePath(path)), statePath);
  writeFileSync(statePath(dir), emptyState);
  return openState(statePath(dir));
}

/** The file of a database after its migrations. */
function migrated(
  open: (dir: string) => IndexDatabase | StateDatabase,
  pathIn: (dir: string) => string,
): Buffer {
  const dir = mkdtempSync(join(tmpdir(), "empty-database-"));
  try {
    const db = open(dir);
    db.sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db[Symbol.dispose]();
    return readFileSync(pathIn(dir));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
