import { join } from "node:path";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import type { LookUps } from "../sqlite/leaf-pages.ts";
import { SQLITE_MIGRATIONS } from "../sqlite/migrations.embedded.ts";
import { openAsIs, openInMemory, openReader, openWriter, PAGE_CACHE_KIB } from "../sqlite/open.ts";
import { ReadAhead } from "../sqlite/read-ahead.ts";
import {
  appliedMigrations,
  beginsEarlier,
  compareVersion,
  type SchemaVersion,
} from "../sqlite/schema-version.ts";
import { InvalidationRecorder } from "./cache-invalidations.ts";
import { CountChanges, PendingRepoints, SearchChanges } from "./commit-changes.ts";
import type { CommitSequence } from "./log/commit-sequence.ts";
import { PeopleChanges } from "./search/people-changes.ts";
import { statement } from "./statement.ts";

const signerByKey = statement<{ id: number }, [key: Uint8Array]>(
  "envelopes.signer-by-key",
  "SELECT id FROM message_signers WHERE key = ?",
);
const insertSigner = statement<unknown, [key: Uint8Array]>(
  "envelopes.insert-signer",
  "INSERT INTO message_signers (key) VALUES (?)",
);
const MAX_CACHED_SIGNERS = 20_000;

/** The ids of recently used signers, as written or read by one connection. */
class SignerIds {
  readonly #ids = new Map<string, number>();

  /** Returns the id of a signer, inserting it if it is new. */
  of(db: SqliteConnection, key: Uint8Array): number {
    const name = Buffer.prototype.latin1Slice.call(key);
    const cached = this.#ids.get(name);
    if (cached !== undefined) return cached;
    const id = db.get(signerByKey, key)?.id ?? db.insert(insertSigner, key);
    if (this.#ids.size >= MAX_CACHED_SIGNERS) this.#ids.clear();
    this.#ids.set(name, id);
    return id;
  }

  /** Discards the ids of a transaction that was rolled back. */
  clear(): void {
    this.#ids.clear();
  }
}

const dropMissingCast = statement<unknown, [id: number]>(
  "unnamed.drop-missing-cast",
  `DELETE FROM missing_casts WHERE id = ?1
     AND NOT EXISTS (SELECT 1 FROM reactions WHERE target_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM casts WHERE parent_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM casts WHERE root_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM cast_quotes WHERE quoted_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM cast_repoints WHERE old_id = ?1)
     AND NOT EXISTS (SELECT 1 FROM cast_repoints WHERE new_id = ?1)`,
);
const UNNAMED_URL = `id = ?1
  AND NOT EXISTS (SELECT 1 FROM reactions WHERE target_id = ?1)
  AND NOT EXISTS (SELECT 1 FROM casts WHERE parent_url_id = ?1)`;
const dropUrl = statement<unknown, [id: number]>("unnamed.drop-url", `DELETE FROM urls WHERE ${UNNAMED_URL}`);
const unnamedUrl = statement<{ id: number }, [id: number]>(
  "unnamed.url",
  `SELECT id FROM urls WHERE ${UNNAMED_URL}`,
);

/**
 * Ids of casts and URLs that rows deleted by one transaction had named. The transaction ends by deleting the rows of
 * `missing_casts` and `urls` that nothing names any more. A thread's root URL is the parent URL of a live cast, so only that
 * is checked.
 */
class UnnamedIds {
  readonly #casts = new Set<number>();
  readonly #urls = new Set<number>();

  /** Notes that a row that named this cast was deleted or changed. */
  cast(id: number): void {
    this.#casts.add(id);
  }

  /** Notes that a row that named this URL was deleted. */
  url(id: number): void {
    this.#urls.add(id);
  }

  /** Reports whether nothing names a stored URL although no row that named it was deleted: the disk lost such a row. */
  isLostUrl(db: SqliteConnection, id: number): boolean {
    return !this.#urls.has(id) && db.get(unnamedUrl, id) !== undefined;
  }

  /** Discards the ids of a transaction that was rolled back. */
  clear(): void {
    this.#casts.clear();
    this.#urls.clear();
  }

  flush(db: SqliteConnection): void {
    for (const id of this.#casts) db.run(dropMissingCast, id);
    for (const id of this.#urls) db.run(dropUrl, id);
    this.clear();
  }
}

const CASTS_PER_GENERATION = 20_000;

/** The ids of live casts that the writer used last, by hash. Most rows name a cast of the last few hours. */
class RecentCasts {
  #young = new Map<string, { id: number; fid: number }>();
  #old = new Map<string, { id: number; fid: number }>();

  /** Returns the id of a live cast of this author, if it is known. */
  idOf(fid: number, hash: Uint8Array): number | undefined {
    const key = keyOf(hash);
    const cast = this.#young.get(key) ?? this.#old.get(key);
    return cast?.fid === fid ? cast.id : undefined;
  }

  add(id: number, fid: number, hash: Uint8Array): void {
    if (this.#young.size >= CASTS_PER_GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(keyOf(hash), { id, fid });
  }

  /** Removes a cast that is no longer live. */
  drop(hash: Uint8Array): void {
    const key = keyOf(hash);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}

function keyOf(hash: Uint8Array): string {
  return Buffer.prototype.latin1Slice.call(hash);
}

const migrations = SQLITE_MIGRATIONS.index;

/** The creation time of the newest migration of the index, in Unix milliseconds. */
export const INDEX_SCHEMA: number = migrations.at(-1)?.folderMillis ?? 0;

/** Returns the path of the index inside a data directory. */
export function indexPath(dataDir: string): string {
  return join(dataDir, "index.db");
}

/** A connection to the index. */
export class IndexDatabase extends SqliteConnection {
  readonly database = "index";
  /** Changes of the current transaction to objects in responses. */
  readonly invalidations = new InvalidationRecorder();
  /** Changes of the current transaction to the full-text index. */
  readonly search = new SearchChanges();
  /** People whose words the current transaction changes. */
  readonly people = new PeopleChanges();
  /** Changes of the current transaction to counts of casts and follows. */
  readonly counts = new CountChanges();
  /** Ids that rows deleted by the current transaction had named. */
  readonly unnamed = new UnnamedIds();
  /** Ids of signers. Used by the writer. */
  readonly signers = new SignerIds();
  /** Ids of live casts. Used by the writer. */
  readonly recentCasts = new RecentCasts();
  /** Casts whose rows still move to their new ids. Used by the writer. */
  readonly repoints = new PendingRepoints();
  /** The network of the messages, once it has been read. It never changes. */
  network: FarcasterNetwork | undefined;
  /**
   * What reads show for a channel that is both registered and imported (`channels.protocol_names`). Set in a node by its
   * readers.
   */
  protocolNames: "win" | "lose" = "win";
  /** Set in a node by its writer and by the readers that hand out event numbers. */
  commits: CommitSequence | undefined;
  /** Undefined for an index in memory. */
  readAhead: ReadAhead | undefined;
  /** Called after each transaction, committed or not, before its caller continues. */
  onTransactionEnd: (() => void) | undefined;

  /** Announces look-ups, so that the pages of an index larger than the memory are read together. */
  willRead(lookUps: () => readonly LookUps[]): void {
    this.readAhead?.willRead(lookUps);
  }

  override transaction<T>(work: () => T): T {
    try {
      return super.transaction(() => {
        this.repoints.startTransaction();
        const result = work();
        this.counts.flush(this);
        this.unnamed.flush(this);
        this.search.flush(this);
        this.people.flush(this);
        this.invalidations.flush(this);
        this.commits?.begin();
        return result;
      });
    } catch (cause) {
      this.counts.clear();
      this.unnamed.clear();
      this.search.clear();
      this.people.clear();
      this.invalidations.clear();
      this.forget();
      throw cause;
    } finally {
      this.commits?.end();
      this.onTransactionEnd?.();
    }
  }

  /** Discards what the writer has read, because a transaction was rolled back or another connection has written. */
  forget(): void {
    this.signers.clear();
    this.recentCasts.clear();
    this.repoints.clear();
    this.network = undefined;
  }
}

/** Opens the index for its only writer. Creates it if it is missing, and migrates its schema. */
export function openIndexWriter(path: string): IndexDatabase {
  const sqlite = openWriter(
    { database: "index", file: path },
    {
      migrations,
      cacheKib: PAGE_CACHE_KIB.indexWriter,
      // A commit touches pages all over the indexes, and a checkpoint writes each of them once, however often it is in the
      // log. Checkpoints every 64 MB of log take a seventh less merge time than every 16 MB, and one checkpoint takes no
      // longer.
      checkpointPages: 16_000,
      mayCreate: true,
    },
  );
  return withReadAhead(new IndexDatabase(sqlite)).watchFiles();
}

/**
 * Opens the index for reading. The writer must have created it.
 *
 * @param options.cacheKib size of the page cache
 */
export function openIndexReader(
  path: string,
  { cacheKib = PAGE_CACHE_KIB.indexReader }: { readonly cacheKib?: number } = {},
): IndexDatabase {
  return withReadAhead(
    new IndexDatabase(openReader({ database: "index", file: path }, { migrations, cacheKib })),
  );
}

function withReadAhead(db: IndexDatabase): IndexDatabase {
  db.readAhead = new ReadAhead(db.sqlite);
  return db;
}

/** Opens an index of any version without migrating it. The last connection to close writes the log back. */
export function openIndexAsIs(path: string): IndexDatabase {
  return new IndexDatabase(openAsIs({ database: "index", file: path }, { readonly: false }));
}

/** Returns how the schema of an index relates to that of this program. */
export function indexVersion(db: IndexDatabase): SchemaVersion {
  return compareVersion(db, appliedMigrations(db.sqlite), migrations);
}

/** Reports whether the applied migrations are those of an index in an older format. */
export function isOlderFormat(applied: readonly number[]): boolean {
  return beginsEarlier(applied, migrations);
}

/** Opens an empty index in memory with the current schema. */
export function openIndexInMemory(): IndexDatabase {
  return new IndexDatabase(openInMemory(migrations));
}
