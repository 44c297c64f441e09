import type { Command } from "commander";
import type { BadRow } from "../../import/channel-registry.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";

/** `channels import`: imports names, images and leads of channels, which are not protocol data. */
export function registerChannels(program: Command, context: CommandContext): void {
  const channels = program.command("channels").description("manage channel data");

  channels
    .command("import")
    .description("import the channels of a registry file; repeating it changes nothing")
    .argument("<file>", "JSON as Farcaster's public all-channels endpoint returns it")
    .action(async (file: string) => {
      const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
      const { indexPath, openIndexWriter } = await import("../../db/index/database.ts");
      const { claimNetwork } = await import("../../db/index/identity.ts");
      const { migrateIndex } = await import("../../node/start/migrate-index.ts");
      const { importRegistry } = await import("../../import/channel-registry.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const dataDir = openTaskDataDir(common);
        await migrateIndex(common, dataDir.path, { always: false });
        using db = openIndexWriter(indexPath(dataDir.path));
        claimNetwork(db, common.config.protocol.network);
        const { added, changed, unchanged, badRows } = importRegistry(db, file);
        db.checkpoint();
        print(
          `Channels: ${added} added, ${changed} changed, ${unchanged} unchanged, ${badRows.length} skipped\n`,
        );
        printError(listOf(badRows));
      });
    });
}

const MAX_LISTED = 20;

function listOf(badRows: readonly BadRow[]): string {
  const lines = badRows.slice(0, MAX_LISTED).map(({ index, reason }) => `skipped row ${index}: ${reason}\n`);
  const more = badRows.length - MAX_LISTED;
  return lines.join("") + (more > 0 ? `and ${more} more\n` : "");
}
