import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { type RestoreOptions, restoreInto, STATE_IN_POSTGRES } from "./backup.ts";

/** `snapshot create|list|verify|restore`: copies of the index, and of a single node's state, for other nodes. */
export function registerSnapshot(program: Command, context: CommandContext): void {
  const snapshot = program
    .command("snapshot")
    .description("copy the index to another node, and check copies");

  snapshot
    .command("create")
    .description("write a snapshot of the index of a running or stopped node")
    .requiredOption("--to <place>", "directory to create, or s3://bucket/prefix/name")
    .option("--with-state", "also copy state.db, which holds secrets")
    .option("--any-stage", "also copy an index that is not complete")
    .action(async ({ to, withState = false, anyStage = false }: CreateOptions) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { resolve } = await import("node:path");
      const { UserError } = await import("../../lib/failure.ts");
      const { placeOf } = await import("../../node/snapshot/places/place-of.ts");
      const { createSnapshot } = await import("../../node/snapshot/create-snapshot.ts");
      const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        if (withState && common.config.state.url !== "") throw new UserError(STATE_IN_POSTGRES);
        const place = placeOf(to, common.config.backup);
        const progress = startSnapshotProgress(common);
        const manifest = await createSnapshot({
          dataDir: resolve(common.config.data.dir),
          place,
          parts: withState ? ["index", "state"] : ["index"],
          anyStage,
          clock: common.clock,
          signal: common.shutdown.signal,
          onProgress: progress.update,
          onLeftOut: (what) => common.log.warn(what),
        });
        progress.finish();
        print(`${place.label}\n${summaryOf(manifest)}`);
      });
    });

  snapshot
    .command("verify")
    .description("check that a snapshot is unchanged and fits the settings; writes nothing")
    .requiredOption("--from <place>", "the snapshot: a directory, s3://bucket/prefix/name or an https URL")
    .action(async ({ from }: { from: string }) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { placeOf } = await import("../../node/snapshot/places/place-of.ts");
      const { verifySnapshot } = await import("../../node/snapshot/verify-snapshot.ts");
      const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const progress = startSnapshotProgress(common);
        const manifest = await verifySnapshot({
          place: placeOf(from, common.config.backup),
          config: common.config,
          signal: common.shutdown.signal,
          onProgress: progress.update,
        });
        progress.finish();
        print(`The snapshot is whole.\n${summaryOf(manifest)}`);
      });
    });

  snapshot
    .command("restore")
    .description("restore a snapshot into a data directory without an index. The node must be stopped")
    .requiredOption("--from <place>", "the snapshot: a directory, s3://bucket/prefix/name or an https URL")
    .option("--index-only", "leave the state of the snapshot")
    .action((options: RestoreOptions) => restoreInto(context, options));

  snapshot
    .command("list")
    .description("list the snapshots and backups in a place")
    .requiredOption(
      "--from <place>",
      "a directory, s3://bucket/prefix, or an https URL with a snapshots.json",
    )
    .action(async ({ from }: { from: string }) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { placeOf } = await import("../../node/snapshot/places/place-of.ts");
      const { listOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        print(listOf(await placeOf(from, common.config.backup).snapshots(common.shutdown.signal)));
      });
    });
}

interface CreateOptions {
  readonly to: string;
  readonly withState?: boolean;
  readonly anyStage?: boolean;
}
