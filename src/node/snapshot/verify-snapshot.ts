import { followedFids } from "../../config/files/fid-file.ts";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { INDEX_SCHEMA } from "../../db/index/database.ts";
import { STATE_SCHEMA } from "../../db/state/database.ts";
import { RetryableError, reasonOf, UserError } from "../../lib/failure.ts";
import { Scope } from "../../upstream/scope.ts";
import { type IndexManifest, type Manifest, readManifest, type SnapshotProgress } from "./manifest.ts";
import { extractFile } from "./pack-file.ts";
import type { Place } from "./places/place.ts";
import { compressedFile, SNAPSHOT_PARTS, type SnapshotPart } from "./places/snapshot-files.ts";

type UsedSettings = Pick<Config, "protocol" | "upstream">;

export interface VerifySnapshotOptions {
  readonly place: Place;
  /** The settings of the node that would use the snapshot. */
  readonly config: UsedSettings;
  /** Default: all that the snapshot contains. */
  readonly parts?: readonly SnapshotPart[] | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}

/**
 * Checks that a snapshot is complete and unchanged, and that a node with these settings can use it. Writes nothing.
 *
 * @throws UserError that describes what is wrong.
 */
export async function verifySnapshot(options: VerifySnapshotOptions): Promise<Manifest> {
  const { place, config, signal, onProgress } = options;
  const manifest = await readUsable(place, config, signal, options.parts);
  for (const part of partsOf(manifest, options.parts)) {
    await extractPart({
      place,
      manifest,
      part,
      to: undefined,
      signal,
      ...(onProgress ? { onProgress } : {}),
    });
  }
  return manifest;
}

/** Returns the databases of a snapshot that are used. */
export function partsOf(manifest: Manifest, wanted?: readonly SnapshotPart[]): readonly SnapshotPart[] {
  return (wanted ?? SNAPSHOT_PARTS).filter((part) => manifest[part] !== null);
}

/**
 * Reads the manifest of a snapshot that a node with these settings can use.
 *
 * @throws UserError that explains why it cannot.
 */
export async function readUsable(
  place: Place,
  config: UsedSettings,
  signal: AbortSignal,
  wanted?: readonly SnapshotPart[],
): Promise<Manifest> {
  const dir = place.label;
  const manifest = await readManifest(place, signal).catch(async (cause: unknown) => {
    if (cause instanceof UserError) await refuseCollection(place, signal);
    throw cause;
  });
  const missing = wanted?.find((part) => manifest[part] === null);
  if (missing !== undefined) throw new UserError(`${dir} holds no ${missing}`);
  const parts = partsOf(manifest, wanted);
  if (parts.length === 0) throw new UserError(`${dir} contains neither an index nor a state`);
  for (const part of parts) refuseNewerSchema(dir, manifest, part);
  if (manifest.index && parts.includes("index")) refuseOtherSource(dir, manifest.index, config);
  return manifest;
}

/** Users often name a directory of backups instead of a backup. */
async function refuseCollection(place: Place, signal: AbortSignal): Promise<void> {
  const inside = await place.snapshots(signal).catch(() => []);
  const newest = inside
    .map(({ name }) => name)
    .sort()
    .at(-1);
  if (newest !== undefined)
    throw new UserError(
      `${place.label} holds ${inside.length === 1 ? "one snapshot. Name it: " : `${inside.length} snapshots. Name one of them, such as the newest: `}${place.inside(newest).label}`,
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
 * @throws UserError if a byte of it has changed.
 */
export async function extractPart(options: {
  readonly place: Place;
  readonly manifest: Manifest;
  readonly part: SnapshotPart;
  readonly to: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}): Promise<void> {
  const { place, manifest, part, to, signal, onProgress } = options;
  const expected = manifest[part];
  if (!expected) throw new Error(`the snapshot has no ${part}`);
  const name = compressedFile(part);
  const path = `${place.label}/${name}`;
  const changed = (what: string, cause?: unknown) =>
    new UserError(`${path} is not the file that was written: ${what}. Use another snapshot.`, { cause });
  let found: Awaited<ReturnType<typeof extractFile>>;
  try {
    found = await extractFile(place.read(name, signal), to, {
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
