import type { Command } from "commander";
import type { SnapshotPart } from "../../node/snapshot/places/snapshot-files.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

/** Why a command of a node with `state.url` does not copy the state. */
export const STATE_IN_POSTGRES =
  "the state is in PostgreSQL (state.url): back it up with the tools of PostgreSQL";

/** `backup`: makes a verified backup of a running or stopped node, and deletes old ones. */
export function registerBackup(program: Command, context: CommandContext): void {
  program
    .command("backup")
    .description(
      "make a verified backup of a running or stopped node, and delete the oldest beyond backup.keep",
    )
    .option("--to <place>", `directory of backups, or s3://bucket/prefix; default: backup.url or backup.dir`)
    .option("--state-only", "leave out the index, which can be refilled")
    .action(async ({ to, stateOnly = false }: { to?: string; stateOnly?: boolean }) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { makeBackup, UNDELETABLE } = await import("../../node/backup/backup.ts");
      const { placeOf } = await import("../../node/snapshot/places/place-of.ts");
      const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      const { config, clock, shutdown } = common;
      context.exitCode = await runTask(common, async () => {
        const { backup } = config;
        const root = to ?? (backup.url || backup.dir);
        if (root === "")
          throw new UserError("pass a backup directory with --to, or set backup.dir or backup.url");
        const isInPostgres = config.state.url !== "";
        if (isInPostgres && stateOnly) throw new UserError(STATE_IN_POSTGRES);
        const kind = isInPostgres ? "index" : stateOnly ? "state" : "whole";
        const progress = startSnapshotProgress(common);
        const { path, manifest, leftOut, deleted, undeletable } = await makeBackup({
          config,
          root: placeOf(root, backup),
          kind,
          clock,
          signal: shutdown.signal,
          onProgress: progress.update,
        });
        progress.finish();
        print(`${path}\n${summaryOf(manifest)}${deleted.map((old) => `Deleted ${old}\n`).join("")}`);
        for (const what of leftOut) common.log.warn(what);
        if (undeletable.length > 0) common.log.warn({ paths: undeletable }, UNDELETABLE);
      });
    });
}

export interface RestoreOptions {
  readonly from: string;
  readonly indexOnly?: boolean;
  readonly stateOnly?: boolean;
}

/** `restore`: restores a backup or a snapshot. */
export function registerRestore(program: Command, context: CommandContext): void {
  program
    .command("restore")
    .description(
      "restore a backup or snapshot into a data directory that lacks what it holds. The node must be stopped",
    )
    .requiredOption("--from <place>", "the backup: a directory, s3://bucket/prefix/name or an https URL")
    .option("--index-only", "leave out the state")
    .option("--state-only", "leave out the index")
    .action((options: RestoreOptions) => restoreInto(context, options));
}

/** Restores a snapshot into the data directory of the settings. */
export async function restoreInto(
  context: CommandContext,
  { from, indexOnly = false, stateOnly = false }: RestoreOptions,
): Promise<void> {
  const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
  const { UserError } = await import("../../lib/failure.ts");
  const { placeOf } = await import("../../node/snapshot/places/place-of.ts");
  const { restoreSnapshot } = await import("../../node/snapshot/restore-snapshot.ts");
  const { restoredKeysText } = await import("../../node/snapshot/restored-keys.ts");
  const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
  if (indexOnly && stateOnly) throw new UserError("--index-only and --state-only exclude each other");
  const only: SnapshotPart | undefined = indexOnly ? "index" : stateOnly ? "state" : undefined;
  const common = createCommon(context);
  context.exitCode = await runTask(common, async () => {
    const dataDir = openTaskDataDir(common, { isRestore: true });
    const progress = startSnapshotProgress(common);
    const { manifest, parts, isStateNew, keys, hasSettings } = await restoreSnapshot({
      place: placeOf(from, common.config.backup),
      dataDir: dataDir.path,
      config: common.config,
      parts: only && [only],
      clock: common.clock,
      signal: common.shutdown.signal,
      onProgress: progress.update,
    });
    progress.finish();
    print(`Restored ${parts.join(" and ")} into ${dataDir.path}\n${summaryOf(manifest)}`);
    if (keys) print(`${AFTER_STATE}${restoredKeysText(keys)}`);
    if (hasSettings) print("settings.toml has what the operator's page had changed\n");
    if (hasSettings === false) print("settings.toml stays: that of the backup is in its manifest.json\n");
    if (isStateNew) print("state.db is new and empty, because the snapshot has only the index\n");
  });
}

const AFTER_STATE =
  "Requests that were signed before now are refused: clients sign again. Sessions have ended.\n";
