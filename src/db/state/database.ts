import { join } from "node:path";
import { SqliteConnection } from "../sqlite/connection.ts";
import { embeddedMigrations } from "../sqlite/migrations.macro.ts" with { type: "macro" };
import { openInMemory, openReader, openWriter } from "../sqlite/open.ts";
import { addMissingDigests } from "./secrets.ts";

/** Readers of a write-ahead log wait for next to nothing, such as the recovery of the log after a crash. */
const READER_BUSY_TIMEOUT_MS = 250;

const migrations = embeddedMigrations("state");

/** The file of the state database inside a data directory. */
export function statePath(dataDir: string): string {
  return join(dataDir, "state.db");
}

/** A connection to what cannot be rebuilt: apps, webhooks, secrets, nonces. */
export class StateDatabase extends SqliteConnection {
  readonly database = "state";
  #syncsCommits = true;

  /**
   * Whether the next commits are synced to the disk. An unsynced one costs a small part of a synced one; a power failure
   * may undo it, but the death of the process alone does not, and the next synced commit makes it durable too.
   */
  syncCommits(syncs: boolean): void {
    if (syncs === this.#syncsCommits) return;
    this.sqlite.exec(`PRAGMA synchronous = ${syncs ? "FULL" : "NORMAL"}`);
    this.#syncsCommits = syncs;
  }
}

/**
 * Opens the state database and brings its schema up to date.
 *
 * @param options.mayCreate whether one that is not there, or empty, is made; else it is a UserError.
 */
export function openState(path: string, { mayCreate = true }: { mayCreate?: boolean } = {}): StateDatabase {
  const sqlite = openWriter(
    { database: "state", file: path },
    // Rows are few and small beside the index; commits are single decisions, and the default checkpoint suits them.
    { migrations, cacheKib: 8192, checkpointPages: 1000, mayCreate },
  );
  const db = new StateDatabase(sqlite);
  addMissingDigests(db);
  return db;
}

/**
 * Opens the state database for the one writer of a serving node. It never waits inside of SQLite for another's lock: the
 * writer tries again later by itself, and hears its callers meanwhile.
 */
export function openStateWriter(path: string): StateDatabase {
  const db = openState(path);
  db.sqlite.exec("PRAGMA busy_timeout = 0");
  return db;
}

/** Opens the state database for reading, which never waits for the writer. The file has been created before. */
export function openStateReader(path: string): StateDatabase {
  const sqlite = openReader({ database: "state", file: path }, { migrations, cacheKib: 8192 });
  sqlite.exec(`PRAGMA busy_timeout = ${READER_BUSY_TIMEOUT_MS}`);
  return new StateDatabase(sqlite);
}

/** Opens an empty state database in memory with the schema of this version. */
export function openStateInMemory(): StateDatabase {
  return new StateDatabase(openInMemory(migrations));
}
