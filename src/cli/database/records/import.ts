import type { Command } from "commander";
import type { ImportInterrupted, ImportReport } from "../../../import/run-import.ts";
import type { ImportProgress } from "../../../import/summary.ts";
import { EXIT_USER, RetryableError, UserError } from "../../../lib/failure.ts";
import type { CommandContext } from "../../context.ts";
import { print } from "../../output.ts";
import { toExit } from "../../to-exit.ts";

const LOG_INTERVAL_MS = 5000;

interface ImportOptions {
  readonly estimate?: boolean;
  readonly json?: boolean;
  readonly finish?: boolean;
}

/** `import`: imports a file of length-delimited records. */
export function registerImport(program: Command, context: CommandContext): void {
  program
    .command("import")
    .description("import a file of length-delimited records, continuing an earlier import of the same file")
    .argument("[file]", "messages, on-chain events and username proofs, each after its length")
    .option("--estimate", "only estimate size and time of the import, from a sample of the file")
    .option("--json", "print the estimate as a JSON object")
    .option("--finish", "finish an interrupted import without the rest of its file")
    .action(async (named: string | undefined, options: ImportOptions) => {
      const { estimate = false, json = false, finish = false } = options;
      if (finish === (named !== undefined))
        program.error("error: a file is required, or --finish without one");
      const file = named ?? "";
      if (estimate) return await printEstimate(context, file, json);
      const { createCommon, openTaskDataDir, runTask } = await import("../../common.ts");
      const { formatProgress } = await import("../../../import/summary.ts");
      const { finishImport } = await import("../../../import/run-import.ts");
      const { ImportInterrupted, runImport } = await import("../../../import/run-import.ts");
      const { formatSummary } = await import("../../../import/summary.ts");
      const { indexPath, openIndexWriter } = await import("../../../db/index/database.ts");
      const { claimNetwork, isFollowing, mayLackState } = await import("../../../db/index/identity.ts");
      const { openState, statePath } = await import("../../../db/state/database.ts");
      const { applyFullText, fillPeople } = await import("../../../node/start/full-text.ts");
      const { withImport } = await import("../../../node/start/import-file.ts");
      const { migrateIndex } = await import("../../../node/start/migrate-index.ts");
      const { createProgressReporter, progressOnStderr } = await import("../../../runtime/progress-line.ts");
      const common = createCommon(context);
      const { config, clock, log, shutdown } = common;
      context.exitCode = await runTask(common, async () => {
        if (!finish && !(await Bun.file(file).exists())) throw new UserError(`no such file: ${file}`);
        const dataDir = openTaskDataDir(common);
        await migrateIndex(common, dataDir.path, { always: false });
        const db = openIndexWriter(indexPath(dataDir.path));
        shutdown.add("index", () => db[Symbol.dispose]());
        claimNetwork(db, config.protocol.network);
        await applyFullText(common, db, config.index);
        await fillPeople(common, db);
        if (isFollowing(db)) {
          throw new UserError(
            "the index in this data directory follows an upstream, so an import would make it differ from that node. Use another data directory.",
          );
        }
        // Done before the index gets any data, so that an index with data but no state means that the state was lost.
        if (config.state.url === "")
          openState(statePath(dataDir.path), { mayCreate: mayLackState(db) })[Symbol.dispose]();
        const fileBytes = finish ? 0 : Bun.file(file).size;
        const progress = createProgressReporter({
          clock,
          logIntervalMs: LOG_INTERVAL_MS,
          log: (step) => log.info(step, "Importing"),
          output: progressOnStderr(),
          format: formatProgress,
        });
        const end = ({ summary }: Pick<ImportReport, "summary">) => {
          progress.finish();
          print(`${formatSummary(summary).join("\n")}\n`);
        };
        const onProgress = (step: ImportProgress) => progress.update(step);
        if (finish) {
          const { outcome, summary } = await withImport(common, { db, fileBytes }, (parts) =>
            finishImport({ ...parts, onProgress }),
          );
          end({ summary });
          db.checkpoint();
          shutdown.signal.throwIfAborted();
          if (outcome === "finished") return;
          throw new RetryableError("a record could not be stored; the log says why. Run the command again.");
        }
        let report: ImportReport;
        try {
          report = await withImport(common, { db, fileBytes }, (parts) =>
            runImport({ ...parts, path: file, onProgress }),
          );
        } catch (cause) {
          if (!(cause instanceof ImportInterrupted)) throw cause;
          end(cause.report);
          throw interruptedError(file, cause);
        }
        end(report);
        db.checkpoint();
        shutdown.signal.throwIfAborted();
        const { outcome, detail } = report;
        if (outcome === "unstored")
          throw new RetryableError(`${file}: ${detail}; the log says why. Run the import again.`);
        if (outcome !== "complete") throw new UserError(`${file}: ${detail}`);
      });
    });
}

async function printEstimate(context: CommandContext, file: string, isJson: boolean): Promise<void> {
  const { estimateImport } = await import("./estimate-text.ts");
  const { readConfig } = await import("../../common.ts");
  const { estimate, records, text } = await estimateImport(file, readConfig(context).config);
  print(isJson ? `${JSON.stringify({ ...estimate, records }, null, 2)}\n` : text);
}

/** Returns the error of an interrupted import: the reason, the number of stored records, and how to continue. */
function interruptedError(file: string, { message, cause, report }: ImportInterrupted): Error {
  const { accepted, known } = report.summary;
  const stored = accepted.message + accepted.onChainEvent + accepted.usernameProof + known;
  const text = [
    `${file}: the import stopped early: ${message}.`,
    `${stored} records of this run are stored, up to byte ${report.toOffset}; run the same import again to continue there.`,
  ].join("\n");
  return toExit(cause).exitCode === EXIT_USER
    ? new UserError(text, { cause })
    : new RetryableError(text, { cause });
}
