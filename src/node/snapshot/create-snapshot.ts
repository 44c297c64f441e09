import type { Database } from "bun:sqlite";
import { rmSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { CONSOLE_FILE, readConsoleText } from "../../config/files/console-file.ts";
import { IndexDatabase, indexPath, openIndexReader } from "../../db/index/database.ts";
import { publishAgainAfter, publishedSeq } from "../../db/index/log/outbox.ts";
import { openAsIs } from "../../db/sqlite/open.ts";
import { appliedMigrations } from "../../db/sqlite/schema-version.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import type { Clock } from "../../runtime/clock.ts";
import { version } from "../../version.ts";
import { copyDatabase } from "./database-task.ts";
import { detachIndex } from "./detach-index.ts";
import {
  describeIndex,
  type FileManifest,
  type IndexManifest,
  incompleteReason,
  type Manifest,
  SNAPSHOT_FORMAT,
  type SnapshotProgress,
} from "./manifest.ts";
import { compressFile } from "./pack-file.ts";
import type { Place, SnapshotTarget } from "./places/place.ts";
import { compressedFile, type SnapshotPart } from "./places/snapshot-files.ts";
import { requireFreeSpace } from "./snapshot-directory.ts";

export interface CreateSnapshotOptions {
  /** The data directory. Its node may run. */
  readonly dataDir: string;
  /** Must not contain a snapshot. */
  readonly place: Place;
  readonly parts: readonly SnapshotPart[];
  /** Whether the manifest contains the changes of the operator's page. Default: if the state is included. */
  readonly withSettings?: boolean;
  /** Whether to accept an incomplete index. */
  readonly anyStage?: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
  /** Called with a sentence about existing data that a snapshot with the state does not contain. */
  readonly onLeftOut?: (what: string) => void;
  /** See `copyDatabase`. */
  readonly logLimitBytes?: number;
}

const COPY_ORDER: readonly SnapshotPart[] = ["state", "index"];
/** The compressed form takes less than this share of a database. Measured: 0.44. */
const COMPRESSED_SHARE = 0.6;

/**
 * Writes a snapshot of the databases of a node, which keeps serving. The state is copied before the index, so that the copied index has
 * every message that the state acknowledges; then the copied state gets the writes that the index has by then. The copy's publication
 * position is the one from before both copies: the restored node publishes later events again, with ids that the state may already have.
 *
 * A process that is killed leaves `<dir>.partial`, which the next one for the same directory replaces. For a bucket, only the
 * uncompressed copies are on this machine, in the data directory; the compressed form is uploaded while it is made.
 *
 * @throws UserError if there is nothing to copy, the index is not complete, or space is missing; RetryableError if so much is written
 * meanwhile that a write-ahead log grows too large; the reason of `signal` if it aborts.
 */
export async function createSnapshot(options: CreateSnapshotOptions): Promise<Manifest> {
  const { dataDir, parts, withSettings = parts.includes("state"), clock } = options;
  const sizes = COPY_ORDER.filter((part) => parts.includes(part)).map((part) =>
    requireDatabase(dataDir, part, options),
  );
  await using target = await options.place.begin(dataDir, options.signal);
  requireFreeSpace(dirname(target.copiesIn), neededBytes(sizes, target), "a snapshot");
  const published = parts.includes("index") && parts.includes("state") ? publishedIn(dataDir) : undefined;
  const stateFile = parts.includes("state") ? await copyPart(target, "state", options) : undefined;
  const indexFile = parts.includes("index") ? await copyPart(target, "index", options) : undefined;
  if (stateFile && indexFile) {
    // Imported here because it loads curves, which the maintenance thread does not need otherwise.
    const { copyLateWrites } = await import("./copy-late-writes.ts");
    copyLateWrites(statePath(dataDir), { state: stateFile, index: indexFile });
  }
  const index = indexFile ? await addIndex(target, indexFile, options, published) : null;
  const state = stateFile ? await addState(target, stateFile, options) : null;
  const settings = withSettings ? settingsIn(dataDir, options) : undefined;
  const manifest: Manifest = {
    format: SNAPSHOT_FORMAT,
    created_at: `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`,
    version,
    node: hostname()
      .replace(/[^\x20-\x7e]/g, "?")
      .slice(0, 256),
    index,
    state,
    ...(settings !== undefined && { settings }),
  };
  await target.complete(new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`), options.signal);
  return manifest;
}

/**
 * Refuses a database that cannot be copied, before anything is written. Returns its size in bytes.
 *
 * @throws UserError
 */
function requireDatabase(
  dataDir: string,
  part: SnapshotPart,
  { anyStage = false }: Pick<CreateSnapshotOptions, "anyStage">,
): number {
  if (part === "state") {
    using state = openStateReader(statePath(dataDir));
    return state.sizeBytes();
  }
  using index = openIndexReader(indexPath(dataDir));
  const reason = incompleteReason(index);
  if (reason !== undefined && !anyStage)
    throw new UserError(
      `${index.file}: the index is not complete: ${reason}. Wait until the node is ready, or add --any-stage.`,
    );
  return index.sizeBytes();
}

/**
 * Returns the changes of the operator's page; undefined if they cannot be read, because the databases are worth a backup even without
 * them.
 */
function settingsIn(
  dataDir: string,
  { onLeftOut }: Pick<CreateSnapshotOptions, "onLeftOut">,
): string | undefined {
  const path = join(dataDir, CONSOLE_FILE);
  try {
    return readConsoleText(path);
  } catch (cause) {
    onLeftOut?.(`${path} cannot be read, so it is not in the backup: ${reasonOf(cause)}`);
    return undefined;
  }
}

/** Returns the publication position of a node's index. */
function publishedIn(dataDir: string): number {
  using index = openIndexReader(indexPath(dataDir));
  return publishedSeq(index);
}

/**
 * Returns the space for all copies and, if the compressed form is stored in the same place, for that: the last copy is deleted only after
 * it has been compressed.
 */
function neededBytes(sizes: readonly number[], { keepsStoredForm }: SnapshotTarget): number {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return bytes + (keepsStoredForm ? Math.ceil(bytes * COMPRESSED_SHARE) : 0);
}

/** @param published the publication position of the copy; undefined if it has no state. */
async function addIndex(
  target: SnapshotTarget,
  file: string,
  options: CreateSnapshotOptions,
  published: number | undefined,
): Promise<IndexManifest> {
  const where = { database: "index", file } as const;
  const content = (() => {
    using index = new IndexDatabase(openAsIs(where, { readonly: false }));
    detachIndex(index, { hasState: published !== undefined });
    if (published !== undefined) publishAgainAfter(index, published);
    return { ...describeIndex(index), schema: finish(index.sqlite) };
  })();
  return { ...content, ...(await pack(target, "index", options)) };
}

async function addState(
  target: SnapshotTarget,
  file: string,
  options: CreateSnapshotOptions,
): Promise<FileManifest> {
  const sqlite = openAsIs({ database: "state", file }, { readonly: false });
  const schema = finish(sqlite);
  sqlite.close();
  return { schema, ...(await pack(target, "state", options)) };
}

/** Copies a database into the directory. Returns the path of the copy. */
async function copyPart(
  target: SnapshotTarget,
  part: SnapshotPart,
  { dataDir, signal, logLimitBytes, onProgress }: CreateSnapshotOptions,
): Promise<string> {
  const file = part === "index" ? indexPath(dataDir) : statePath(dataDir);
  const to = target.plainFile(part);
  const bytes = statSync(file).size;
  const { damage } = await copyDatabase({ database: part, file }, to, {
    signal,
    onBytes: (copied) => onProgress?.({ part, step: "copy", share: Math.min(1, copied / bytes) }),
    ...(logLimitBytes === undefined ? {} : { logLimitBytes }),
  });
  if (damage.length > 0)
    throw new UserError(`${file} is damaged:\n${damage.map((line) => `  ${line}`).join("\n")}`);
  return to;
}

/** Makes a database a single self-contained file. Returns the time of its last migration. */
function finish(sqlite: Database): number {
  sqlite.exec("PRAGMA journal_mode = DELETE");
  return appliedMigrations(sqlite).at(-1) ?? 0;
}

/** Replaces the uncompressed copy by the compressed file. */
async function pack(
  target: SnapshotTarget,
  part: SnapshotPart,
  { signal, onProgress }: CreateSnapshotOptions,
): Promise<Omit<FileManifest, "schema">> {
  const plain = target.plainFile(part);
  const total = statSync(plain).size;
  const packed = await compressFile(plain, (chunks) => target.store(compressedFile(part), chunks, signal), {
    signal,
    onBytes: (bytes) => onProgress?.({ part, step: "compress", share: bytes / total }),
  });
  rmSync(plain);
  return {
    bytes: packed.bytes,
    sha256: packed.sha256,
    compressed_bytes: packed.compressedBytes,
    compressed_sha256: packed.compressedSha256,
  };
}
