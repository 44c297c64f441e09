import { join } from "node:path";
import { SqliteConnection } from "../lib/sqlite/connection.ts";
import { embeddedMigrations } from "../lib/sqlite/migrations.macro.ts" with { type: "macro" };
import { openInMemory, openWriter } from "../lib/sqlite/open.ts";

const migrations = embeddedMigrations("state");

/** The file of the state database inside a data directory. */
export function statePath(dataDir: string): string {
  return join(dataDir, "state.db");
}

/** A connection to what cannot be rebuilt: apps, webhooks, secrets, nonces. */
export class StateDatabase extends SqliteConnection {
  /** Keeps the connections of different databases apart for the type checker. */
  readonly database = "state";
}

/** Opens the state database, creates it when it is not there, and brings its schema up to date. */
export function openState(path: string): StateDatabase {
  // Rows are few and small beside the index; commits are single decisions, and the default checkpoint suits them.
  return new StateDatabase(openWriter(path, { migrations, cacheKib: 8192, checkpointPages: 1000 }));
}

/** Opens an empty state database in memory with the schema of this version. */
export function openStateInMemory(): StateDatabase {
  return new StateDatabase(openInMemory(migrations));
}
