import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { followedFids } from "../../config/files/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { INDEX_SCHEMA } from "../../db/index/database.ts";
import { STATE_SCHEMA } from "../../db/state/database.ts";
import { RetryableError, reasonOf, UserError } from "../../lib/failure.ts";
import { Scope } from "../../upstream/scope.ts";
import {
  compressedFile,
  type IndexManifest,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  SNAPSHOT_PARTS,
  type SnapshotPart,
  type SnapshotProgress,
} from "./manifest.ts";
import { extractFile } from "./pack-file.ts";

type UsedSettings = Pick<Config, "protocol" | "upstream">;

export interface VerifySnapshotOptions {
  readonly dir: string;
  /** The settings of the node that would use it. */
  readonly config: UsedSettings;
  /** Default: all that the snapshot holds. */
  readonly parts?: readonly SnapshotPart[] | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}

/**
 * Checks that a snapshot is complete and unchanged, and that a node with these settings can use it. Writes nothing.
 *
 * @throws UserError that says what is wrong.
 */
export async function verifySnapshot(options: VerifySnapshotOptions): Promise<Manifest> {
  const { dir, config, signal, onProgress } = options;
  const manifest = readUsable(dir, config, options.parts);
  for (const part of partsOf(manifest, options.parts)) {
    await extractPart({ dir, manifest, part, to: undefined, signal, ...(onProgress ? { onProgress } : {}) });
  }
  return manifest;
}

/** The databases to use of a snapshot. */
export function partsOf(manifest: Manifest, wanted?: readonly SnapshotPart[]): readonly SnapshotPart[] {
  return (wanted ?? SNAPSHOT_PARTS).filter((part) => manifest[part] !== null);
}

/**
 * Reads the manifest of a snapshot that a node with these settings can use.
 *
 * @throws UserError that says why it cannot.
 */
export function readUsable(dir: string, config: UsedSettings, wanted?: readonly SnapshotPart[]): Manifest {
  refuseCollection(dir);
  const manifest = readManifest(dir);
  const missing = wanted?.find((part) => manifest[part] === null);
  if (missing !== undefined) throw new UserError(`${dir} holds no ${missing}`);
  const parts = partsOf(manifest, wanted);
  if (parts.length === 0) throw new UserError(`${dir} holds neither an index nor a state`);
  for (const part of parts) refuseNewerSchema(dir, manifest, part);
  if (manifest.index && parts.includes("index")) refuseOtherSource(dir, manifest.index, config);
  return manifest;
}

/** A directory of backups is often named instead of one of them. */
function refuseCollection(dir: string): void {
  if (existsSync(join(dir, MANIFEST_FILE)) || !existsSync(dir)) return;
  const inside = readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(dir, entry.name, MANIFEST_FILE)))
    .map(({ name }) => name)
    .sort();
  const newest = inside.at(-1);
  if (newest !== undefined)
    throw new UserError(
      `${dir} holds ${inside.length} snapshots. Name one of them, such as the newest: ${join(dir, newest)}`,
    );
}

function refuseNewerSchema(dir: string, manifest: Manifest, part: SnapshotPart): void {
  const known = part === "index" ? INDEX_SCHEMA : STATE_SCHEMA;
  const schema = manifest[part]?.schema ?? 0;
  if (schema > known)
    throw new UserError(
      `${dir}: the ${part} was written by a newer version of this program (${manifest.version}), with a schema of ${dayOf(schema)}; this program knows that of ${dayOf(known)}. Use the newer version.`,
    );
}

function refuseOtherSource(dir: string, index: IndexManifest, { protocol, upstream }: UsedSettings): void {
  if (index.network !== protocol.network)
    throw new UserError(
      `${dir}: the index holds ${index.network}; protocol.network is ${protocol.network}. Set the one or use the other.`,
    );
  if (index.upstream === null) {
    if (isFollowing({ upstream }))
      throw new UserError(
        `${dir}: the index was filled without an upstream, so it cannot follow upstream.url. Use a snapshot of a node that follows, or let the node fill its own index.`,
      );
    return;
  }
  if (!isFollowing({ upstream }))
    throw new UserError(`${dir}: the index follows an upstream, and upstream.url is empty. Set it.`);
  const { fids } = index.upstream;
  if (fids !== new Scope(followedFids(upstream), []).fingerprint)
    throw new UserError(
      `${dir}: the index follows ${fids === 0 ? "all fids" : "other fids"} than upstream.fids and upstream.fid_file name. Set the same as on the node that made it.`,
    );
}

/**
 * Decompresses a database of a snapshot into `to`, or only compares it with the manifest.
 *
 * @throws UserError when a byte of it has changed.
 */
export async function extractPart(options: {
  readonly dir: string;
  readonly manifest: Manifest;
  readonly part: SnapshotPart;
  readonly to: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}): Promise<void> {
  const { dir, manifest, part, to, signal, onProgress } = options;
  const expected = manifest[part];
  if (!expected) throw new Error(`the snapshot has no ${part}`);
  const path = compressedFile(dir, part);
  const changed = (what: string, cause?: unknown) =>
    new UserError(`${path} is not the file that was written: ${what}. Use another snapshot.`, { cause });
  let found: Awaited<ReturnType<typeof extractFile>>;
  try {
    if (!statSync(path).isFile()) throw new Error("it is no file");
    found = await extractFile(path, to, {
      signal,
      maxBytes: expected.bytes,
      onBytes: (bytes) => onProgress?.({ part, step: "extract", share: bytes / expected.bytes }),
    });
  } catch (cause) {
    if (signal.aborted || cause instanceof RetryableError) throw cause;
    throw changed(reasonOf(cause), cause);
  }
  if (
    found.compressedBytes !== expected.compressed_bytes ||
    found.compressedSha256 !== expected.compressed_sha256
  )
    throw changed("its SHA-256 differs from that of the manifest");
  if (found.bytes !== expected.bytes || found.sha256 !== expected.sha256)
    throw changed("the SHA-256 of the database in it differs from that of the manifest");
}

function dayOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 10);
}
