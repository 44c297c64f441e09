import { renameSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config/schema.ts";
import { isBulkBuilding } from "../../db/index/bulk/bulk-state.ts";
import { shareOfFids } from "../../db/index/counts/store-counts.ts";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../db/index/database.ts";
import { claimNetwork, isFollowing } from "../../db/index/identity.ts";
import { continueRepoints } from "../../db/index/project/cast-references/repoints.ts";
import { deleteFullText } from "../../db/index/search/full-text.ts";
import { dropEmptyLog } from "../../db/index/upgrade/replace-file.ts";
import { databaseFile } from "../../db/sqlite/open.ts";
import { unfinishedImport } from "../../import/resume.ts";
import { createIngestEngine } from "../../ingest/engine.ts";
import { UserError } from "../../lib/failure.ts";
import { networkOf } from "../../protocol/network/network.ts";
import type { Clock } from "../../runtime/clock.ts";
import { giveToOwnerOf, syncPath } from "../../runtime/files.ts";
import { type NarrowReport, narrowIndex } from "../../upstream/fill/narrow-index.ts";
import { copyDatabase } from "../snapshot/database-task.ts";
import { freeBytesOf, megabytes, requireFreeSpace } from "../snapshot/snapshot-directory.ts";
import { compactFileOf, dropCompactFile } from "./compact-file.ts";

export interface CompactDeps {
  /** Absolute, and locked by this process. */
  readonly dataDir: string;
  readonly network: Config["protocol"]["network"];
  /** `index.full_text`. */
  readonly fullText: boolean;
  /** The fids to follow; undefined for all, and for an index that follows no node. */
  readonly followed: ReadonlySet<number> | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CompactProgress) => void;
  /** Default: asks the file system. */
  readonly freeBytes?: (dir: string) => number;
}

export type CompactProgress =
  | { readonly stage: "narrow"; readonly fids: number }
  | { readonly stage: "rewrite"; readonly bytes: number; readonly expectedBytes: number };

export interface CompactReport {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Undefined if nothing can be out of scope. */
  readonly narrowed: NarrowReport | undefined;
}

/** SQLite may fill a rewritten page slightly more or less than before. */
const REWRITE_SHARE = 1.05;
/** The write-ahead log between two checkpoints. */
const LOG_BYTES = 64 * 1024 * 1024;

/**
 * Removes from the index what the settings exclude and rewrites its file without free pages. It can be killed at any moment: the index is
 * then as before, or lacks some of what the next run removes.
 *
 * @throws UserError if the index cannot be compacted now or the disk lacks space, before anything is done; the reason of `signal` if it
 * aborts; StorageError if a file cannot be written.
 */
export async function compactIndex(deps: CompactDeps): Promise<CompactReport> {
  const { dataDir, signal, onProgress, freeBytes = freeBytesOf } = deps;
  const path = databaseFile(indexPath(dataDir));
  const dir = dirname(path);
  dropCompactFile(path);
  let bytesBefore: number;
  let expectedBytes: number;
  let narrowed: NarrowReport | undefined;
  {
    using db = openIndexWriter(path);
    claimNetwork(db, deps.network);
    if (isBulkBuilding(db))
      throw new UserError(
        isFollowing(db)
          ? `${path}: the index is being filled. Start the node, and compact the index when it is filled.`
          : unfinishedImport(db),
      );
    db.checkpoint();
    bytesBefore = db.sizeBytes();
    const followed = isFollowing(db) ? deps.followed : undefined;
    const share = followed ? shareOfFids(db, followed) : 1;
    const log = followed ? Math.min(LOG_BYTES, bytesBefore) : 0;
    const needed = Math.ceil(share * usedBytes(db) * REWRITE_SHARE) + log;
    requireFreeSpace(dir, needed, "compacting the index", freeBytes(dir));
    if (!deps.fullText) {
      db.search.isOn = false;
      deleteFullText(db);
    }
    if (followed) narrowed = await narrow(deps, db, followed);
    while (db.repoints.areAny(db)) db.transaction(() => continueRepoints(db));
    if (narrowed && narrowed.removedRecords > 0) dropUnusedSigners(db);
    db.checkpoint();
    expectedBytes = usedBytes(db);
    // The profiles of mentioned fids may take more space than estimated.
    if (freeBytes(dir) < expectedBytes * REWRITE_SHARE)
      throw new UserError(
        `${path}: what is out of scope was removed, but rewriting the index needs ${megabytes(expectedBytes * REWRITE_SHARE)} of free space. Make room and run the command again; the index is usable as it is.`,
      );
  }
  const { damage } = await copyDatabase({ database: "index", file: path }, compactFileOf(path), {
    signal,
    onBytes: (bytes) => onProgress({ stage: "rewrite", bytes, expectedBytes }),
  });
  if (damage.length > 0) throw new Error(`the rewritten index is damaged: ${damage.join("; ")}`);
  signal.throwIfAborted();
  replaceByCompactFile(path);
  using db = openIndexWriter(path);
  db.checkpoint();
  return { bytesBefore, bytesAfter: db.sizeBytes(), narrowed };
}

async function narrow(
  { network, clock, signal, onProgress }: CompactDeps,
  db: IndexDatabase,
  followed: ReadonlySet<number>,
): Promise<NarrowReport> {
  // Each commit is a step that can be repeated, so only the last one must be synced to disk.
  db.sqlite.exec("PRAGMA synchronous = NORMAL");
  const engine = createIngestEngine({
    db,
    network: networkOf(network),
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  return await narrowIndex({
    db,
    engine,
    followed,
    signal,
    onProgress: (fids) => onProgress({ stage: "narrow", fids }),
  });
}

/** Deletes the keys whose messages were deleted. This scans whole tables, so no statement of the serving node may do it. */
function dropUnusedSigners({ sqlite }: IndexDatabase): void {
  sqlite.run(
    `DELETE FROM message_signers WHERE id NOT IN (
       SELECT signer_id FROM envelopes UNION SELECT signer_id FROM messages)`,
  );
}

function usedBytes(db: IndexDatabase): number {
  const { all, free } = db.pages();
  return (db.sizeBytes() / Math.max(all, 1)) * (all - free);
}

/**
 * Puts the rewritten file in the place of the index and gives it the same owner. `path` is not a symbolic link. Both must be closed. They
 * contain the same rows, so a crash at any moment leaves one of them, and nothing is lost.
 *
 * @throws UserError if another program has changed the index meanwhile.
 */
function replaceByCompactFile(path: string): void {
  const file = compactFileOf(path);
  // A remaining log would be applied to the new file.
  for (const one of [path, file]) dropEmptyLog(one);
  giveToOwnerOf(path, file);
  syncPath(file);
  renameSync(file, path);
  syncPath(dirname(path));
}
