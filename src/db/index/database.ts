import { join } from "node:path";
import { SqliteConnection } from "../sqlite/connection.ts";
import { embeddedMigrations } from "../sqlite/migrations.macro.ts" with { type: "macro" };
import { openInMemory, openReader, openWriter } from "../sqlite/open.ts";
import { InvalidationRecorder } from "./cache-invalidations.ts";
import { SearchChanges } from "./search-changes.ts";

const migrations = embeddedMigrations("index");

/** The file of the index inside a data directory. */
export function indexPath(dataDir: string): string {
  return join(dataDir, "index.db");
}

/** A connection to the index. */
export class IndexDatabase extends SqliteConnection {
  readonly database = "index";
  /** What the transaction under way changes of the objects that answers show. */
  readonly touched = new InvalidationRecorder();
  /** What the transaction under way changes of the full-text index. */
  readonly search = new SearchChanges();

  override transaction<T>(work: () => T): T {
    try {
      return super.transaction(() => {
        const result = work();
        this.search.flush(this);
        this.touched.flush(this);
        return result;
      });
    } catch (cause) {
      this.search.clear();
      this.touched.clear();
      throw cause;
    }
  }
}

/** Opens the index for its one writer, creates it when it is not there, and brings its schema up to date. */
export function openIndexWriter(path: string): IndexDatabase {
  const sqlite = openWriter(
    { database: "index", file: path },
    {
      migrations,
      // The upper levels of every b-tree and the recent leaves stay in memory.
      cacheKib: 65536,
      // A commit touches pages all over the indexes, and a checkpoint writes each of them once, however often the log has it:
      // every 64 MB of log that is a seventh of the merge less than every 16 MB, and one checkpoint takes no longer.
      checkpointPages: 16_000,
      mayCreate: true,
    },
  );
  return new IndexDatabase(sqlite);
}

/** Opens the index for reading. The writer has created it before. */
export function openIndexReader(path: string): IndexDatabase {
  return new IndexDatabase(openReader({ database: "index", file: path }, { migrations, cacheKib: 32768 }));
}

/** Opens an empty index in memory with the schema of this version. */
export function openIndexInMemory(): IndexDatabase {
  return new IndexDatabase(openInMemory(migrations));
}
