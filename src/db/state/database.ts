import { join } from "node:path";
import { UserError } from "../../lib/failure.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import { SQLITE_MIGRATIONS } from "../sqlite/migrations.embedded.ts";
import { openAsIs, openInMemory, openReader, openWriter, PAGE_CACHE_KIB } from "../sqlite/open.ts";
import { appliedMigrations, compareVersion, type SchemaVersion } from "../sqlite/schema-version.ts";
import { stateMoveOf } from "./state-move.ts";

/** Readers of a write-ahead log rarely wait, for example while the log is recovered after a crash. */
const READER_BUSY_TIMEOUT_MS = 250;

const migrations = SQLITE_MIGRATIONS.state;

/** The creation time of the newest migration of the state, in Unix milliseconds. */
export const STATE_SCHEMA: number = migrations.at(-1)?.folderMillis ?? 0;

/** Returns the path of the state database inside a data directory. */
export function statePath(dataDir: string): string {
  return join(dataDir, "state.db");
}

/** A connection to the data that cannot be rebuilt: apps, webhooks, secrets, tokens, deliveries, nonces, queued writes. */
export class StateDatabase extends SqliteConnection {
  readonly database = "state";
  #syncsCommits = true;

  /**
   * Sets whether the next commits are synced to the disk. An unsynced commit costs a fraction of a synced one. A power failure
   * may undo it, but a crash of the process does not, and the next synced commit makes it durable too.
   */
  syncCommits(syncs: boolean): void {
    if (syncs === this.#syncsCommits) return;
    this.sqlite.exec(`PRAGMA synchronous = ${syncs ? "FULL" : "NORMAL"}`);
    this.#syncsCommits = syncs;
  }
}

/**
 * Opens the state database and migrates its schema.
 *
 * @param options.mayCreate whether to create a missing or empty database; otherwise that is a UserError.
 * @param options.mayBeMoved whether to open a state that was moved to PostgreSQL; otherwise that is a UserError.
 */
export function openState(
  path: string,
  { mayCreate = true, mayBeMoved = false }: { mayCreate?: boolean; mayBeMoved?: boolean } = {},
): StateDatabase {
  const sqlite = openWriter(
    { database: "state", file: path },
    // Rows are few and small compared to the index, and commits are small, so the default checkpoint size fits.
    { migrations, cacheKib: PAGE_CACHE_KIB.stateWriter, checkpointPages: 1000, mayCreate },
  );
  const db = new StateDatabase(sqlite).watchFiles();
  if (!mayBeMoved) refuseMoved(db);
  return db;
}

/**
 * Opens the state database for the only writer of a serving node. It never waits inside SQLite for another connection's
 * lock: the writer retries later and stays responsive meanwhile.
 */
export function openStateWriter(path: string): StateDatabase {
  const db = openState(path);
  db.sqlite.exec("PRAGMA busy_timeout = 0");
  return db;
}

/** Opens the state database for reading, which never waits for the writer. The file must exist. */
export function openStateReader(path: string): StateDatabase {
  const sqlite = openReader(
    { database: "state", file: path },
    { migrations, cacheKib: PAGE_CACHE_KIB.stateReader },
  );
  sqlite.exec(`PRAGMA busy_timeout = ${READER_BUSY_TIMEOUT_MS}`);
  const db = new StateDatabase(sqlite);
  refuseMoved(db);
  return db;
}

/** Opens a state of any version without migrating it. The last connection to close writes the log back. */
export function openStateAsIs(path: string): StateDatabase {
  return new StateDatabase(openAsIs({ database: "state", file: path }, { readonly: false }));
}

/** Returns how the schema of a state relates to that of this program. */
export function stateVersion(db: StateDatabase): SchemaVersion {
  return compareVersion(db, appliedMigrations(db.sqlite), migrations);
}

/** @throws UserError when the state was moved to PostgreSQL, because two nodes would use it otherwise. */
function refuseMoved(db: StateDatabase): void {
  const move = stateMoveOf(db);
  if (!move) return;
  db[Symbol.dispose]();
  throw new UserError(
    `${db.file}: the state was moved on ${isoTime(move.movedAt)} to ${move.destination}. Set state.url to use it there. To go back, run \`svc state copy --to sqlite\` with state.url.`,
  );
}

/** Opens an empty state database in memory with the current schema. */
export function openStateInMemory(): StateDatabase {
  return new StateDatabase(openInMemory(migrations));
}
