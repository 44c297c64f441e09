import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isBulkBuilding } from "../../db/index/bulk/bulk-state.ts";
import { readTotals } from "../../db/index/counts/totals.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo, isFollowing } from "../../db/index/identity.ts";
import { readMeta } from "../../db/index/meta.ts";
import { areDeferred } from "../../ingest/bulk/deferred-records.ts";
import { isTransient, RetryableError, reasonOf, UserError } from "../../lib/failure.ts";
import { percentOf, progressLine } from "../../runtime/progress-line.ts";
import { BLOCK_SHARD, Stage, UpstreamPositions } from "../../upstream/positions.ts";
import type { Place } from "./places/place.ts";
import { MANIFEST_FILE, type SnapshotPart } from "./places/snapshot-files.ts";

/** The version of the snapshot layout. A program refuses later versions. */
export const SNAPSHOT_FORMAT = 1;
const MAX_SETTINGS_CHARS = 1024 * 1024;
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const MAX_SHARDS = 1024;
const MAX_DATE_MS = 8_640_000_000_000_000;

const count = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const digest = () => Type.String({ pattern: "^[0-9a-f]{64}$" });
const text = () => Type.String({ maxLength: 256, pattern: "^[\\x20-\\x7e]*$" });

const file = Type.Object({
  /** The creation time of the last migration, unix ms. */
  schema: Type.Integer({ minimum: 0, maximum: MAX_DATE_MS }),
  /** For the database itself. */
  bytes: count(),
  sha256: digest(),
  /** For the compressed file of the snapshot. */
  compressed_bytes: count(),
  compressed_sha256: digest(),
});

/** The progress of an index that follows an upstream. */
const following = Type.Object({
  /** Identifies the set of followed fids; 0 for all. */
  fids: count(),
  stage: Type.Union([Type.Literal("listing"), Type.Literal("filling"), Type.Literal("applying")]),
  shards: Type.Integer({ minimum: 0, maximum: MAX_SHARDS }),
  /** The last applied block by shard. */
  applied_blocks: Type.Record(Type.String({ pattern: "^\\d{1,4}$" }), count()),
  /** The number of the last event of shard 0; null if unknown. */
  seqnum: Type.Union([count(), Type.Null()]),
});

const index = Type.Composite([
  file,
  Type.Object({
    network: Type.Union([Type.Literal("mainnet"), Type.Literal("testnet"), Type.Literal("devnet")]),
    demo: Type.Boolean(),
    /** Null for an index that follows no upstream. */
    upstream: Type.Union([following, Type.Null()]),
    rows: Type.Record(Type.String({ pattern: "^[a-z_]{1,64}$" }), count()),
  }),
]);

const manifestSchema = Type.Object({
  format: Type.Literal(SNAPSHOT_FORMAT),
  /** ISO 8601. */
  created_at: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$" }),
  /** The release that made it. */
  version: text(),
  /** The host on which it was made. */
  node: text(),
  /** Null in a backup of the state only. */
  index: Type.Union([index, Type.Null()]),
  /** Null in a snapshot of the index only. */
  state: Type.Union([file, Type.Null()]),
  /**
   * The changes of the operator's page: `settings.toml`. Every backup contains them, even one of an index whose state is in PostgreSQL.
   */
  settings: Type.Optional(Type.String({ maxLength: MAX_SETTINGS_CHARS })),
});

/** The contents of a snapshot. The manifest is written last, so a directory with a manifest is complete. */
export type Manifest = Static<typeof manifestSchema>;
export type IndexManifest = Static<typeof index>;
export type FileManifest = Static<typeof file>;
export type FollowingManifest = Static<typeof following>;

/**
 * Reads the manifest of a snapshot.
 *
 * @throws UserError if the place contains no snapshot, or one that this version cannot read.
 */
export async function readManifest(place: Place, signal: AbortSignal): Promise<Manifest> {
  const dir = place.label;
  const value = parse(dir, await readBounded(place, signal));
  const format = typeof value === "object" && value !== null && "format" in value ? value.format : undefined;
  if (typeof format === "number" && format > SNAPSHOT_FORMAT)
    throw new UserError(
      `${dir}: the snapshot has format ${format}; this program knows ${SNAPSHOT_FORMAT}. Use the version that made it.`,
    );
  if (Value.Check(manifestSchema, value)) return value;
  const [problem] = Value.Errors(manifestSchema, value);
  throw new UserError(
    `${dir}: ${MANIFEST_FILE} is damaged: ${problem?.path ?? ""} ${problem?.message ?? ""}`,
  );
}

function parse(dir: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new UserError(`${dir}: ${MANIFEST_FILE} is damaged: ${reasonOf(cause)}`, { cause });
  }
}

async function readBounded(place: Place, signal: AbortSignal): Promise<string> {
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of place.read(MANIFEST_FILE, signal)) {
      length += chunk.length;
      if (length > MAX_MANIFEST_BYTES) throw new Error("it is too large");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  } catch (cause) {
    signal.throwIfAborted();
    if (isTransient(cause) || cause instanceof RetryableError) throw cause;
    throw new UserError(
      `${place.label} holds no snapshot: ${MANIFEST_FILE} cannot be read: ${reasonOf(cause)}`,
      {
        cause,
      },
    );
  }
}

/** The progress of a step for one database of a snapshot. */
export interface SnapshotProgress {
  readonly part: SnapshotPart;
  readonly step: "copy" | "compress" | "extract" | "check";
  /** From 0 to 1. */
  readonly share: number;
}

/** Formats a bar, the step and its share, as far as they fit into `columns` columns. */
export function formatSnapshotProgress({ part, step, share }: SnapshotProgress, columns: number): string {
  const percent = percentOf(share);
  return progressLine(share, [`${part}: ${step} ${percent}`, percent], columns);
}

/** Returns the manifest's description of an index's content. */
export function describeIndex(db: IndexDatabase): Omit<IndexManifest, keyof FileManifest> {
  const network = readMeta(db, "network");
  if (network !== "mainnet" && network !== "testnet" && network !== "devnet")
    throw new Error("the index belongs to no network");
  return {
    network,
    demo: isDemo(db),
    upstream: isFollowing(db) ? describeFollowing(new UpstreamPositions(db)) : null,
    rows: readTotals(db),
  };
}

/** Returns why an index is incomplete; undefined if it is complete. */
export function incompleteReason(db: IndexDatabase): string | undefined {
  if (isFollowing(db)) {
    if (new UpstreamPositions(db).stage === Stage.Applying) return undefined;
    return "it is being filled from the upstream, or compared with it";
  }
  return isBulkBuilding(db) || areDeferred(db) ? "an import has not finished" : undefined;
}

function describeFollowing(positions: UpstreamPositions): FollowingManifest {
  const shards = positions.shards ?? 0;
  const applied: Record<string, number> = {};
  for (let shard = BLOCK_SHARD; shard <= shards; shard++) {
    const block = positions.applied(shard);
    if (block !== undefined) applied[shard] = block;
  }
  return {
    fids: positions.scope ?? 0,
    stage: stageName(positions.stage),
    shards,
    applied_blocks: applied,
    seqnum: positions.seqnum ?? null,
  };
}

function stageName(stage: Stage | undefined): FollowingManifest["stage"] {
  if (stage === Stage.Applying) return "applying";
  return stage === Stage.Filling ? "filling" : "listing";
}
