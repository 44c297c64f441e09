import { join } from "node:path";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { SqliteConnection } from "../sqlite/connection.ts";
import { embeddedMigrations } from "../sqlite/migrations.macro.ts" with { type: "macro" };
import { openAsIs, openInMemory, openReader, openWriter } from "../sqlite/open.ts";
import { appliedMigrations, compareVersion, type SchemaVersion } from "../sqlite/schema-version.ts";
import { InvalidationRecorder } from "./cache-invalidations.ts";
import type { CommitSequence } from "./commit-sequence.ts";
import { CountChanges } from "./counts.ts";
import { PendingRepoints } from "./project/pending-repoints.ts";
import { RecentCasts } from "./project/recent-casts.ts";
import { UnnamedIds } from "./project/unnamed.ts";
import { SearchChanges } from "./search-changes.ts";
import { SignerIds } from "./signer-ids.ts";

const migrations = embeddedMigrations("index");

/** The creation time of the newest migration of the index, unix ms. */
export const INDEX_SCHEMA: number = migrations.at(-1)?.folderMillis ?? 0;

/** The path of the index inside a data directory. */
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
  /** Changes of the current transaction to counts of casts and follows. */
  readonly counts = new CountChanges();
  /** Ids that the current transaction removed a row of. */
  readonly unnamed = new UnnamedIds();
  /** Ids of signers. Used by the writer. */
  readonly signers = new SignerIds();
  /** Ids of live casts. Used by the writer. */
  readonly recentCasts = new RecentCasts();
  /** Casts whose rows still move to their new ids. Used by the writer. */
  readonly repoints = new PendingRepoints();
  /** The network of the messages, once it was read: it never changes. */
  network: FarcasterNetwork | undefined;
  /** Set in a node, by its writer and by the readers that give away numbers of events. */
  commits: CommitSequence | undefined;
  /** Called after each transaction, committed or not, before its caller continues. */
  onTransactionEnd: (() => void) | undefined;

  override transaction<T>(work: () => T): T {
    try {
      return super.transaction(() => {
        this.repoints.startTransaction();
        const result = work();
        this.counts.flush(this);
        this.unnamed.flush(this);
        this.search.flush(this);
        this.invalidations.flush(this);
        this.commits?.begin();
        return result;
      });
    } catch (cause) {
      this.counts.clear();
      this.unnamed.clear();
      this.search.clear();
      this.invalidations.clear();
      this.forget();
      throw cause;
    } finally {
      this.commits?.end();
      this.onTransactionEnd?.();
    }
  }

  /** Forgets what the writer has read, because a transaction was rolled back or another connection has written. */
  forget(): void {
    this.signers.clear();
    this.recentCasts.clear();
    this.repoints.clear();
    this.network = undefined;
  }
}

/** Opens the index for its one writer. Creates it when it is missing, and migrates its schema. */
export function openIndexWriter(path: string): IndexDatabase {
  const sqlite = openWriter(
    { database: "index", file: path },
    {
      migrations,
      // Holds the upper levels of every b-tree and the recently used leaves.
      cacheKib: 65536,
      // A commit touches pages all over the indexes, and a checkpoint writes each of them once, however often the log holds it.
      // Checkpoints every 64 MB of log take a seventh less merge time than every 16 MB, and one checkpoint takes no longer.
      checkpointPages: 16_000,
      mayCreate: true,
    },
  );
  return new IndexDatabase(sqlite);
}

/** Opens the index for reading. The writer must have created it. */
export function openIndexReader(path: string): IndexDatabase {
  return new IndexDatabase(openReader({ database: "index", file: path }, { migrations, cacheKib: 32768 }));
}

/** Opens an index of any version, which stays as it is. The last connection that closes writes the log back. */
export function openIndexAsIs(path: string): IndexDatabase {
  return new IndexDatabase(openAsIs({ database: "index", file: path }, { readonly: false }));
}

/** How the schema of an index relates to that of this program. */
export function indexVersion(db: IndexDatabase): SchemaVersion {
  return compareVersion(db, appliedMigrations(db.sqlite), migrations);
}

/** Opens an empty index in memory with the current schema. */
export function openIndexInMemory(): IndexDatabase {
  return new IndexDatabase(openInMemory(migrations));
}
