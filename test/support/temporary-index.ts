import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, indexPath } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { createIndex } from "./empty-databases.ts";

/** An index of mainnet in a directory of its own, which is removed with it. */
export interface TemporaryIndex extends Disposable {
  readonly dir: string;
  readonly path: string;
  readonly db: IndexDatabase;
}

export function temporaryIndex(): TemporaryIndex {
  const dir = mkdtempSync(join(tmpdir(), "index-test-"));
  const path = indexPath(dir);
  const db = createIndex(dir);
  db.sqlite.exec("PRAGMA synchronous = OFF");
  claimNetwork(db, "mainnet");
  return {
    dir,
    path,
    db,
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
