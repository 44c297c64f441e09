import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONSOLE_FILE } from "../../config/files/console-file.ts";
import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexWriter } from "../../db/index/database.ts";
import { openState, statePath } from "../../db/state/database.ts";
import { refuseEarlierRequests } from "../../db/state/state-clock.ts";
import { UserError } from "../../lib/failure.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { isRestoring, RESTORED_MARK, RESTORING_FOLDER } from "../../runtime/data-dir.ts";
import { syncPath, writePrivateFile } from "../../runtime/files.ts";
import { checkDatabase } from "./database-task.ts";
import { detachIndex } from "./detach-index.ts";
import type { Manifest, SnapshotProgress } from "./manifest.ts";
import type { Place } from "./places/place.ts";
import { SNAPSHOT_PARTS, type SnapshotPart } from "./places/snapshot-files.ts";
import { type RestoredKeys, restoredKeysOf } from "./restored-keys.ts";
import { requireFreeSpace } from "./snapshot-directory.ts";
import { extractPart, partsOf, readUsable } from "./verify-snapshot.ts";

export interface RestoreSnapshotOptions {
  readonly place: Place;
  /** The data directory, which this process has locked. */
  readonly dataDir: string;
  readonly config: Pick<Config, "protocol" | "upstream" | "auth" | "state">;
  /** Default: all that the snapshot contains. */
  readonly parts?: readonly SnapshotPart[] | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: SnapshotProgress) => void;
}

export interface RestoreReport {
  readonly manifest: Manifest;
  readonly parts: readonly SnapshotPart[];
  /** Whether an empty state.db was created next to the index. */
  readonly isStateNew: boolean;
  /** The keys of the restored state; null without a state. */
  readonly keys: RestoredKeys | null;
  /** Whether `settings.toml` was restored from the backup (an existing one is kept); null if the backup has none. */
  readonly hasSettings: boolean | null;
}

/** Space for migrations and the write-ahead logs of the restored databases. */
const MARGIN_BYTES = 64 * 1024 * 1024;

/**
 * Restores the databases of a snapshot into a data directory that lacks them. They are written and checked in the folder `restoring` and
 * moved when all are complete. A process that is killed before that leaves the data directory as it was; if it is killed during the move,
 * the next call completes it.
 *
 * @throws UserError if the snapshot is damaged or does not fit, if a database is in the way, or if space is missing; the reason of
 * `signal` if it aborts.
 */
export async function restoreSnapshot(options: RestoreSnapshotOptions): Promise<RestoreReport> {
  const { place, dataDir, config, signal, onProgress } = options;
  const folder = join(dataDir, RESTORING_FOLDER);
  if (isRestoring(dataDir)) return completeRestore(dataDir);
  rmSync(folder, { recursive: true, force: true });
  const manifest = await readUsable(place, config, signal, options.parts);
  const parts = partsOf(manifest, options.parts);
  if (parts.includes("state") && config.state.url !== "")
    throw new UserError(
      "state.url is set, so the state of the snapshot would not be used: add --index-only. To move it to PostgreSQL, restore it without state.url and run `svc state copy --to postgres`.",
    );
  for (const part of parts) refuseExisting(dataDir, part);
  const bytes = parts.reduce((sum, part) => sum + (manifest[part]?.bytes ?? 0), MARGIN_BYTES);
  requireFreeSpace(dataDir, bytes, "restoring the snapshot");
  mkdirSync(folder, { mode: 0o700 });
  try {
    let keys: RestoredKeys | null = null;
    for (const part of parts) {
      const to = join(folder, fileName(part));
      await extractPart({ place, manifest, part, to, signal, ...(onProgress ? { onProgress } : {}) });
      onProgress?.({ part, step: "check", share: 0 });
      await refuseDamage(part, to, signal);
      if (part === "index") prepareIndex(to, { hasState: parts.includes("state") });
      else keys = prepareState(to, options);
      syncPath(to);
    }
    signal.throwIfAborted();
    const isStateNew = needsState(manifest, options);
    if (isStateNew) createState(join(folder, fileName("state")));
    const { settings } = manifest;
    // A backup without a state is from a node with PostgreSQL, so its index brings the settings.
    const bringsSettings = parts.includes("state") || manifest.state === null;
    const hasSettings = settings !== undefined && bringsSettings ? !existsSync(consoleFile(dataDir)) : null;
    if (hasSettings) writePrivateFile(consoleFile(folder), settings ?? "");
    markRestored(folder, { manifest, parts, isStateNew, keys, hasSettings });
    syncPath(dataDir);
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
  return completeRestore(dataDir);
}

/**
 * Reports whether a node without a state needs an empty one, because the index is from another node. If the same backup contains a state
 * that was left out by request, the node must not start with an empty state unnoticed.
 */
function needsState(
  manifest: Manifest,
  { dataDir, config }: Pick<RestoreSnapshotOptions, "dataDir" | "config">,
): boolean {
  return manifest.state === null && config.state.url === "" && !existsSync(statePath(dataDir));
}

function createState(file: string): void {
  {
    using state = openState(file);
    state.checkpoint();
  }
  syncPath(file);
}

/** From here on the restore is only completed, never undone. */
function markRestored(folder: string, report: RestoreReport): void {
  const mark = join(folder, RESTORED_MARK);
  writeFileSync(`${mark}.new`, JSON.stringify(report), { mode: 0o600 });
  syncPath(`${mark}.new`);
  renameSync(`${mark}.new`, mark);
  syncPath(folder);
}

const consoleFile = (dir: string) => join(dir, CONSOLE_FILE);

/** Moves the databases and the settings file unless they are moved already. */
function completeRestore(dataDir: string): RestoreReport {
  const folder = join(dataDir, RESTORING_FOLDER);
  const report = JSON.parse(readFileSync(join(folder, RESTORED_MARK), "utf8")) as RestoreReport;
  for (const name of [...SNAPSHOT_PARTS.map(fileName), CONSOLE_FILE]) {
    const from = join(folder, name);
    if (existsSync(from)) renameSync(from, join(dataDir, name));
  }
  syncPath(dataDir);
  // The mark is deleted first: without it, the rest looks like a restore that was killed before the mark.
  rmSync(join(folder, RESTORED_MARK));
  rmSync(folder, { recursive: true, force: true });
  return report;
}

function fileName(part: SnapshotPart): string {
  return `${part}.db`;
}

function refuseExisting(dataDir: string, part: SnapshotPart): void {
  const path = part === "index" ? indexPath(dataDir) : statePath(dataDir);
  const found = [path, `${path}-wal`].find(existsSync);
  if (found !== undefined)
    throw new UserError(
      `${found} already exists. Move ${path} aside, with its -wal and -shm files if present, and run the command again.`,
    );
}

async function refuseDamage(part: SnapshotPart, file: string, signal: AbortSignal): Promise<void> {
  const { damage } = await checkDatabase({ database: part, file }, signal);
  if (damage.length > 0)
    throw new UserError(
      `the ${part} of the snapshot is damaged:\n${damage.map((line) => `  ${line}`).join("\n")}`,
    );
}

/** Migrates a restored index and makes it safe to use a second time. */
function prepareIndex(file: string, options: { readonly hasState: boolean }): void {
  using index = openIndexWriter(file);
  detachIndex(index, options);
  index.checkpoint();
}

/** Migrates a restored state and makes it safe to use a second time. */
function prepareState(
  file: string,
  { config, clock }: Pick<RestoreSnapshotOptions, "config" | "clock">,
): RestoredKeys {
  using state = openState(file, { mayCreate: false });
  state.transaction(() => refuseEarlierRequests(state, nowSecs(clock) + config.auth.signed_at_window_secs));
  const keys = restoredKeysOf(state);
  state.checkpoint();
  return keys;
}
