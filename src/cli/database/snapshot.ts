import type { Command } from "commander";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";
import { type RestoreOptions, restoreInto, STATE_IN_POSTGRES } from "./backup.ts";

/** `snapshot create|verify|restore`: copies of the index, and of the state of a single node, for other nodes. */
export function registerSnapshot(program: Command, context: CommandContext): void {
  const snapshot = program
    .command("snapshot")
    .description("copy the index to another node, and check copies");

  snapshot
    .command("create")
    .description("write a snapshot of the index of a running or stopped node")
    .argument("<dir>", "directory to create")
    .option("--with-state", "also copy state.db, which holds secrets")
    .option("--any-stage", "also copy an index that is not complete")
    .action(async (dir: string, { withState = false, anyStage = false }: CreateOptions) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { resolve } = await import("node:path");
      const { UserError } = await import("../../lib/failure.ts");
      const { createSnapshot } = await import("../../node/snapshot/create-snapshot.ts");
      const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        if (withState && common.config.state.url !== "") throw new UserError(STATE_IN_POSTGRES);
        const progress = startSnapshotProgress(common);
        const manifest = await createSnapshot({
          dataDir: resolve(common.config.data.dir),
          dir,
          parts: withState ? ["index", "state"] : ["index"],
          anyStage,
          clock: common.clock,
          signal: common.shutdown.signal,
          onProgress: progress.update,
        });
        progress.finish();
        print(`${resolve(dir)}\n${summaryOf(manifest)}`);
      });
    });

  snapshot
    .command("verify")
    .description("check that a snapshot is unchanged and fits the settings; writes nothing")
    .argument("<dir>", "directory of the snapshot")
    .action(async (dir: string) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { verifySnapshot } = await import("../../node/snapshot/verify-snapshot.ts");
      const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const progress = startSnapshotProgress(common);
        const manifest = await verifySnapshot({
          dir,
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
    .argument("<dir>", "directory of the snapshot")
    .option("--index-only", "leave the state of the snapshot")
    .action((dir: string, options: RestoreOptions) => restoreInto(context, dir, options));
}

interface CreateOptions {
  readonly withState?: boolean;
  readonly anyStage?: boolean;
}
