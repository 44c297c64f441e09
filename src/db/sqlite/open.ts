import { Database } from "bun:sqlite";
import { accessSync, constants, existsSync, lstatSync, readlinkSync, rmSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { createPrivateFile, restrictToOwner } from "../../runtime/files.ts";
import {
  appliedMigrations,
  type Migrations,
  migrate,
  refuseNewer,
  refuseOlder,
  refuseOlderFormat,
} from "./schema-version.ts";
import { asStorageError, type DatabaseFile, recoveryOf } from "./storage-error.ts";
import { isReadableWal } from "./wal-frames.ts";

/**
 * Sizes of page caches, by the use of a connection; all of a node have at most 128 MB (test/structure/page-caches.test.ts). A
 * cached page takes 5 KB, and connections share none, while the system caches a page once for all of them.
 */
export const PAGE_CACHE_KIB = {
  indexWriter: 32_768,
  /** For an HTTP worker. */
  indexServer: 20_480,
  indexReader: 4_096,
  stateWriter: 8_192,
  stateReader: 2_048,
} as const;

/** The limit that Linux follows. */
const MAX_LINKS = 40;

export interface WriterOptions {
  readonly migrations: Migrations;
  /** Size of the page cache. */
  readonly cacheKib: number;
  /** Size of the write-ahead log, in pages, at which a commit writes it back into the database. */
  readonly checkpointPages: number;
  /** Whether to create a missing or empty database. */
  readonly mayCreate: boolean;
}

/**
 * Opens a database for writing and migrates its schema. Only the owner can access its files, whatever the mode of the
 * directory.
 *
 * @throws UserError when the operator must fix the file; StorageError when SQLite cannot use it.
 */
export function openWriter(named: DatabaseFile, options: WriterOptions): Database {
  const where = withoutLink(named);
  const { file } = where;
  const { migrations, mayCreate } = options;
  checkFile(where, mayCreate);
  return opened(
    where,
    () => {
      createPrivateFile(file);
      // SQLite creates companion files with the mode of the database, but does not change existing ones.
      companionsOf(file).forEach(restrictToOwner);
      return new Database(file, { readwrite: true, strict: true });
    },
    (sqlite) => {
      // Comes first, so that later statements wait for another connection's lock instead of failing.
      sqlite.exec("PRAGMA busy_timeout = 10000");
      const applied = appliedMigrations(sqlite);
      refuseOlderFormat(where, applied, migrations);
      refuseNewer(where, applied, migrations);
      if (applied.length === 0 && !mayCreate) throw new UserError(missing(where, "is empty"));
      // Readers do not wait for the writer, nor the writer for readers.
      sqlite.exec("PRAGMA journal_mode = WAL");
      // Syncs the log at every commit, so that accepted records are on disk before the sender gets its response.
      sqlite.exec("PRAGMA synchronous = FULL");
      sqlite.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`);
      // Truncates the log file after a checkpoint, so that a burst does not occupy the disk permanently.
      sqlite.exec("PRAGMA journal_size_limit = 67108864");
      sqlite.exec(`PRAGMA cache_size = -${options.cacheKib}`);
      sqlite.exec("PRAGMA temp_store = MEMORY");
      migrate(sqlite, migrations);
    },
  );
}

/**
 * Opens a database for reading. Its writer must have created it.
 *
 * @throws UserError when the operator must fix the file; StorageError when SQLite cannot use it.
 */
export function openReader(
  named: DatabaseFile,
  { migrations, cacheKib }: Pick<WriterOptions, "migrations" | "cacheKib">,
): Database {
  const where = withoutLink(named);
  checkFile(where, false);
  return opened(
    where,
    () => openReadonly(where.file),
    (sqlite) => {
      sqlite.exec("PRAGMA busy_timeout = 10000");
      // SQLite itself rejects writes of a reader.
      sqlite.exec("PRAGMA query_only = ON");
      // No mmap: it saves a sixth of the time for uncached pages, but a large database then counts as resident memory.
      sqlite.exec(`PRAGMA cache_size = -${cacheKib}`);
      sqlite.exec("PRAGMA temp_store = MEMORY");
      const applied = appliedMigrations(sqlite);
      refuseOlderFormat(where, applied, migrations);
      refuseNewer(where, applied, migrations);
      refuseOlder(where, applied, migrations);
    },
  );
}

/**
 * Opens a file for reading. Until its write-ahead log is on, a database has a rollback journal. If a process is killed, it
 * leaves one behind, which only a connection that may write can roll back.
 */
function openReadonly(file: string): Database {
  if (existsSync(`${file}-journal`)) {
    using writer = new Database(file, { readwrite: true, strict: true });
    writer.exec("PRAGMA busy_timeout = 10000");
    writer.exec("PRAGMA schema_version");
  }
  return new Database(file, { readonly: true, strict: true });
}

/** Opens an empty database in memory with the current schema. */
export function openInMemory(migrations: Migrations): Database {
  const sqlite = new Database(":memory:", { strict: true });
  migrate(sqlite, migrations);
  return sqlite;
}

/** Returns the paths of the write-ahead log and the shared memory of a database. */
export function companionsOf(file: string): string[] {
  const path = databaseFile(file);
  return [`${path}-wal`, `${path}-shm`];
}

/** Deletes a closed database and its companion files, as far as they exist. */
export function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(file + suffix, { force: true });
}

/** Resolves a symbolic link, because SQLite places the log next to the file that the link names. */
function withoutLink({ database, file }: DatabaseFile): DatabaseFile {
  return { database, file: databaseFile(file) };
}

/**
 * Returns the file at a path, or the one that a symbolic link there names, whether it exists or not. Opens no descriptor, as
 * `realpath` does on some systems.
 */
export function databaseFile(path: string): string {
  let file = path;
  try {
    for (let links = 0; links < MAX_LINKS && lstatSync(file).isSymbolicLink(); links++) {
      const target = readlinkSync(file);
      // Not normalized, because a directory on the way may be a link too.
      file = isAbsolute(target) ? target : `${dirname(file)}/${target}`;
    }
  } catch {
    // There is no such file, or `checkFile` reports why it cannot be read.
  }
  return file;
}

function opened(where: DatabaseFile, open: () => Database, prepare: (sqlite: Database) => void): Database {
  let sqlite: Database | undefined;
  try {
    sqlite = open();
    prepare(sqlite);
    return sqlite;
  } catch (cause) {
    sqlite?.close();
    throw asStorageError(where, cause);
  }
}

/**
 * Opens a database of any schema, without migrating it.
 *
 * @throws UserError when the operator must fix the file; StorageError when SQLite cannot use it.
 */
export function openAsIs(named: DatabaseFile, { readonly }: { readonly readonly: boolean }): Database {
  const where = withoutLink(named);
  checkFile(where, false);
  return opened(
    where,
    () => (readonly ? openReadonly(where.file) : new Database(where.file, { readwrite: true, strict: true })),
    (sqlite) => sqlite.exec("PRAGMA busy_timeout = 10000"),
  );
}

/** Reports problems with a file before SQLite does, which only says "unable to open database file". */
function checkFile(where: DatabaseFile, mayCreate: boolean): void {
  const { database, file } = where;
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    // SQLite deletes the write-ahead log of an empty database, which may contain the only remains of the state.
    if (database === "state" && !found?.size && statSync(`${file}-wal`, { throwIfNoEntry: false })?.size)
      throw new UserError(orphanedLog(file));
    if (!found && !mayCreate) throw new UserError(missing(where, "is missing"));
    if (found && !found.isFile()) {
      const what = found.isDirectory() ? "a directory" : "no regular file";
      throw new UserError(`${file} is ${what}, where the ${database} should be. Move it away.`);
    }
    accessSync(found ? file : dirname(file), constants.R_OK | constants.W_OK);
    if (isReadableWal(`${file}-wal`)) return;
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${file}: the ${database} cannot be opened: ${reasonOf(cause)}. The user of this process must be able to read and write it.`,
      { cause },
    );
  }
  throw new UserError(
    `${file}-wal is damaged: the changes in it, the latest of the ${database}, cannot be read. ${recoveryOf(where)}. To go on without those changes, delete it.`,
  );
}

function missing({ database, file }: DatabaseFile, state: "is missing" | "is empty"): string {
  if (database === "index") return `${file} ${state}: there is no index yet. Start the node first.`;
  return `${file} ${state}. It holds the apps, webhooks, secrets, notification tokens, deliveries and nonces of this node, and cannot be rebuilt: restore it from a backup, or set state.url if the state is in PostgreSQL. If there never was one, or all of that may be lost, run serve or migrate once with --new-state.`;
}

function orphanedLog(file: string): string {
  return `${file} is missing or empty, and ${file}-wal still holds the latest changes of the state. Move both away, because the log fits no other database, and restore ${file} from a backup.`;
}
