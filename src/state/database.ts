import { join } from "node:path";
import { SqliteConnection } from "../lib/sqlite/connection.ts";
import { embeddedMigrations } from "../lib/sqlite/migrations.macro.ts" with { type: "macro" };
import { openInMemory, openWriter } from "../lib/sqlite/open.ts";
import { addMissingDigests } from "./sqlite/secrets.ts";

const migrations = embeddedMigrations("state");

/** The file of the state database inside a data directory. */
export function statePath(dataDir: string): string {
  return join(dataDir, "state.db");
}

/** A connection to what cannot be rebuilt: apps, webhooks, secrets, nonces. */
export class StateDatabase extends SqliteConnection {
  readonly database = "state";
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
 * Opens the state database for decisions that a power failure may undo: commits are not synced to the disk one by one,
 * which costs far more than most of them. When only the process dies, nothing that was committed is lost.
 */
export function openStateUnsynced(path: string): StateDatabase {
  const db = openState(path);
  db.sqlite.exec("PRAGMA synchronous = NORMAL");
  return db;
}

/** Opens an empty state database in memory with the schema of this version. */
export function openStateInMemory(): StateDatabase {
  return new StateDatabase(openInMemory(migrations));
}
