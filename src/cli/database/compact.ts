import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { CompactProgress, CompactReport } from "../../node/compact/compact-index.ts";
import { grouped, percentOf, progressLine } from "../../runtime/progress-line.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

const LOG_INTERVAL_MS = 5000;

/** `index compact`: adapts the index of a stopped node to the settings, and shrinks its file. */
export function registerIndex(program: Command, context: CommandContext): void {
  const index = program.command("index").description("work on the index of a stopped node");

  index
    .command("compact")
    .description(
      "remove what is out of upstream.fids, and the full-text index without index.full_text, and rewrite the file of the index without free pages. The node must be stopped; the state is not touched",
    )
    .option("--json", "print the sizes as a JSON object")
    .action(async ({ json = false }: { json?: boolean }) => {
      const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
      const { followedFids } = await import("../../config/files/fid-file.ts");
      const { indexPath } = await import("../../db/index/database.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { compactIndex } = await import("../../node/compact/compact-index.ts");
      const { migrateIndex } = await import("../../node/start/migrate-index.ts");
      const { createProgressReporter, progressOnStderr } = await import("../../runtime/progress-line.ts");
      const common = createCommon(context);
      const { config, clock, log, shutdown } = common;
      context.exitCode = await runTask(common, async () => {
        if (!existsSync(indexPath(config.data.dir)))
          throw new UserError(`there is no index in ${config.data.dir}`);
        const dataDir = openTaskDataDir(common);
        await migrateIndex(common, dataDir.path, { always: false });
        const output = progressOnStderr();
        const progress = createProgressReporter<CompactProgress>({
          clock,
          logIntervalMs: LOG_INTERVAL_MS,
          log: (step) => log.info(step, "Compacting the index"),
          output,
          format: formatCompact,
        });
        const report = await compactIndex({
          dataDir: dataDir.path,
          fullText: config.index.full_text,
          network: config.protocol.network,
          followed: followedFids(config.upstream),
          clock,
          signal: shutdown.signal,
          onProgress: (step) => progress.update(step),
        });
        if (output.isTerminal) progress.finish();
        print(json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
      });
    });
}

function formatCompact(progress: CompactProgress, columns: number): string {
  if (progress.stage === "narrow") {
    const texts = [`removing what is out of scope: ${grouped(progress.fids)} fids looked at`, "removing"];
    return progressLine(0, texts, columns);
  }
  const share = Math.min(progress.bytes / Math.max(progress.expectedBytes, 1), 1);
  return progressLine(
    share,
    [`${percentOf(share)}  rewriting ${megabytes(progress.expectedBytes)}`, percentOf(share)],
    columns,
  );
}

function textOf({ bytesBefore, bytesAfter, narrowed }: CompactReport): string {
  const lines = [`The index had ${megabytes(bytesBefore)} and has ${megabytes(bytesAfter)}.`];
  if (narrowed) {
    lines.push(`${grouped(narrowed.removedRecords)} records out of scope were removed.`);
    if (!narrowed.isComplete)
      lines.push(
        "The index did not have all fids of upstream.fids: the next start reads them from the followed node.",
      );
  }
  return `${lines.join("\n")}\n`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
