import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { Clock } from "../../runtime/clock.ts";
import { giveToOwnerOf } from "../../runtime/files.ts";
import { createSnapshot } from "../snapshot/create-snapshot.ts";
import type { Manifest, SnapshotProgress } from "../snapshot/manifest.ts";
import type { Place } from "../snapshot/places/place.ts";
import type { SnapshotPart } from "../snapshot/places/snapshot-files.ts";
import { deletePartial, deleteSnapshot, isPartial } from "../snapshot/snapshot-directory.ts";
import { verifySnapshot } from "../snapshot/verify-snapshot.ts";

/** What a backup contains: index and state, or one of them. */
export type BackupKind = "whole" | "state" | "index";

/** A complete backup in the place for backups. */
export interface StoredBackup {
  readonly name: string;
  /** Total size of its stored files. */
  readonly bytes: number;
  readonly kind: BackupKind;
  /** Whether it was requested on the operator's page. */
  readonly isManual: boolean;
  /** When it was started, unix ms. */
  readonly atMs: number;
}

export interface BackupOptions {
  readonly config: Pick<Config, "data" | "protocol" | "upstream" | "backup">;
  /** The place that contains all backups. */
  readonly root: Place;
  readonly kind: BackupKind;
  /** Whether it is requested on the operator's page. Such backups are rotated separately from scheduled ones. Default: false. */
  readonly isManual?: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}

export interface Backup {
  readonly name: string;
  /** The path or URL. */
  readonly path: string;
  readonly manifest: Manifest;
  /** Sentences about existing data that the backup does not contain. */
  readonly leftOut: readonly string[];
  /** Older backups that were deleted. */
  readonly deleted: readonly string[];
  /** Backups in the directory, complete or partial, that belong to another user, so this process can never delete them. */
  readonly undeletable: readonly string[];
}

const PARTS: Readonly<Record<BackupKind, readonly SnapshotPart[]>> = {
  whole: ["index", "state"],
  state: ["state"],
  index: ["index"],
};
/** The warning about `undeletable` backups. */
export const UNDELETABLE =
  "Backups of another user are never deleted: give them to the user of the node with chown -R, or move them elsewhere";
const NAME = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z(?:-(state|index))?(-manual)?$/;

/**
 * Makes a backup, reads it back, and then deletes the oldest ones of its kind beyond `backup.keep`. Nothing is deleted before the new
 * backup has been verified. A backup in a bucket is not read back, because the store has compared the digest of each part that it
 * received.
 *
 * @throws like `createSnapshot` and `verifySnapshot`.
 */
export async function makeBackup(options: BackupOptions): Promise<Backup> {
  const { config, root, kind, isManual = false, clock, signal, onProgress } = options;
  const name = backupName(clock.nowMs(), { kind, isManual });
  const place = root.inside(name);
  const progress = onProgress ? { onProgress } : {};
  const leftOut: string[] = [];
  const made = await createSnapshot({
    dataDir: resolve(config.data.dir),
    place,
    parts: PARTS[kind],
    // The settings file is in the data directory even if the state is in PostgreSQL.
    withSettings: true,
    clock,
    signal,
    onLeftOut: (what) => leftOut.push(what),
    ...progress,
  });
  const backup = { name, path: place.label, leftOut };
  const old = async () => await oldBackups(root, { name, kind, isManual }, config.backup.keep, signal);
  if (root.directory === undefined || place.directory === undefined) {
    const deleted = await old();
    for (const { name: oldName } of deleted) await root.inside(oldName).delete(signal);
    return {
      ...backup,
      manifest: made,
      deleted: deleted.map((stored) => root.inside(stored.name).label),
      undeletable: [],
    };
  }
  const manifest = await verifySnapshot({ place, config, signal, ...progress });
  leaveToOwner(root.directory, place.directory);
  return { ...backup, manifest, ...(await rotate(root.directory, old)) };
}

/** Gives a backup that root makes to the owner of the directory, because the service must be able to rotate it. */
function leaveToOwner(root: string, path: string): void {
  try {
    for (const name of readdirSync(path)) giveToOwnerOf(root, join(path, name));
    giveToOwnerOf(root, path);
  } catch {
    // Root may lack the capability, for example in a container without other users.
  }
}

/** Lists the complete backups in a place, newest first. Everything else there is ignored. */
export async function backupsIn(root: Place, signal: AbortSignal): Promise<StoredBackup[]> {
  return (await root.snapshots(signal))
    .flatMap(({ name, bytes }) => {
      const named = parseName(name);
      return named ? [{ name, bytes, ...named }] : [];
    })
    .sort((a, b) => b.atMs - a.atMs);
}

/** Returns the surplus backups of the same kind as a new one, except those that this process cannot delete. */
async function oldBackups(
  root: Place,
  made: Pick<StoredBackup, "name" | "kind" | "isManual">,
  keep: number,
  signal: AbortSignal,
): Promise<StoredBackup[]> {
  return (
    (await backupsIn(root, signal))
      // If the clock was set back, the new backup may have the name of an old one.
      .filter(
        ({ kind, isManual, name }) => kind === made.kind && isManual === made.isManual && name !== made.name,
      )
      .filter(({ name }) => root.directory === undefined || canDelete(join(root.directory, name)))
      .slice(keep - 1)
  );
}

/** Deletes old backups of a directory and what killed processes left. Backups of another user stay and do not count. */
async function rotate(
  root: string,
  findOld: () => Promise<readonly StoredBackup[]>,
): Promise<Pick<Backup, "deleted" | "undeletable">> {
  const isPartialBackup = (name: string) =>
    isPartial(name) && parseName(name.slice(0, name.lastIndexOf("."))) !== undefined;
  const undeletable = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && (parseName(entry.name) || isPartialBackup(entry.name)))
    .map(({ name }) => join(root, name))
    .filter((path) => !canDelete(path))
    .sort();
  const old = (await findOld()).map(({ name }) => join(root, name));
  for (const path of old) deleteSnapshot(path);
  for (const name of readdirSync(root)) {
    const path = join(root, name);
    if (isPartialBackup(name) && !undeletable.includes(path)) deletePartial(path);
  }
  return { deleted: old, undeletable };
}

/** Reports whether this process may delete the files of a directory. */
function canDelete(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // If another process has just deleted it, nothing is in the way.
    return !existsSync(path);
  }
}

/** Returns a name such as `20261122T031500Z-state`. */
function backupName(nowMs: number, { kind, isManual }: Pick<StoredBackup, "kind" | "isManual">): string {
  const time = `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
  return `${time}${kind === "whole" ? "" : `-${kind}`}${isManual ? "-manual" : ""}`;
}

function parseName(name: string): Pick<StoredBackup, "kind" | "isManual" | "atMs"> | undefined {
  const [, year, month, day, hours, minutes, seconds, kind, manual] = NAME.exec(name) ?? [];
  const atMs = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
  if (Number.isNaN(atMs)) return undefined;
  return {
    atMs,
    kind: kind === "state" || kind === "index" ? kind : "whole",
    isManual: manual !== undefined,
  };
}
