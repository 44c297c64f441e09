import type { Command } from "commander";
import { collecting, parseFids } from "../../client/options.ts";
import type { CommandContext } from "../../context.ts";
import { print } from "../../output.ts";

const LOG_INTERVAL_MS = 5000;

interface ExportOptions {
  readonly fids?: readonly number[];
}

/** `export`: writes the index's network data as a file for `import`. */
export function registerExport(program: Command, context: CommandContext): void {
  program
    .command("export")
    .description("write the records of the index, while the node runs or is stopped, to a file for import")
    .argument("<file>", "the file to create")
    .option("--fids <list>", "only these accounts, comma-separated; may be repeated", collecting(parseFids))
    .action(async (path: string, { fids }: ExportOptions) => {
      const { createCommon, runTask } = await import("../../common.ts");
      const { existsSync } = await import("node:fs");
      const { indexPath, openIndexReader } = await import("../../../db/index/database.ts");
      const { isDemo, networkOfIndex } = await import("../../../db/index/identity.ts");
      const { readTotals } = await import("../../../db/index/counts/totals.ts");
      const { exportedRecords, undatedChannels } = await import("../../../import/export-records.ts");
      const { writeNewRecords } = await import("../../../import/write-records.ts");
      const { UserError } = await import("../../../lib/failure.ts");
      const { refuseLongLog } = await import("../../../node/snapshot/database-task.ts");
      const { createProgressReporter, grouped, percentOf, progressLine, progressOnStderr } = await import(
        "../../../runtime/progress-line.ts"
      );
      const common = createCommon(context);
      const { config, clock, log, shutdown } = common;
      context.exitCode = await runTask(common, async () => {
        const index = indexPath(config.data.dir);
        if (!existsSync(index)) throw new UserError(`there is no index yet: ${index}`);
        using db = openIndexReader(index);
        // Pins one state of the index, so that a message and the key that signed it are consistent.
        db.sqlite.exec("BEGIN");
        const totals = readTotals(db);
        const expected = fids ? undefined : totals.messages + totals.on_chain_events;
        const progress = createProgressReporter<{ records: number; bytes: number }>({
          clock,
          logIntervalMs: LOG_INTERVAL_MS,
          log: (step) => log.info(step, "Exporting"),
          output: progressOnStderr(),
          format: ({ records }, columns) => {
            const share = expected ? Math.min(1, records / expected) : 0;
            const texts = [`${percentOf(share)}  ${grouped(records)} records`, percentOf(share)];
            return progressLine(share, expected ? texts : [`${grouped(records)} records`], columns);
          },
        });
        const source = { db, network: networkOfIndex(db) };
        const { records, bytes } = await writeNewRecords(path, exportedRecords(source, fids), (written) => {
          shutdown.signal.throwIfAborted();
          refuseLongLog(index);
          progress.update(written);
        });
        progress.finish();
        if (records === 0) log.warn({ path }, "The index has no record of these accounts");
        const undated = fids ? undefined : undatedChannels(db, source.network);
        if (undated !== undefined)
          log.warn(
            { setting: `--set protocol.engine_versions=${undated}` },
            "The network has no date for channels: a node accepts those of this file with this setting",
          );
        if (isDemo(db)) log.warn("These are demo accounts; everyone has their keys");
        print(`${grouped(records)} records, ${grouped(bytes)} bytes: ${path}\n`);
      });
    });
}
