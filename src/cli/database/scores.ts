import { type Command, InvalidArgumentError, Option } from "commander";
import type { LoadedConfig } from "../../config/load.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import type { ImportFormat } from "../../scores/import.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";

/** `scores`: computes, imports and explains the scores of accounts in a data directory. */
export function registerScores(program: Command, context: CommandContext): void {
  const scores = program.command("scores").description("compute, import and explain the scores of accounts");

  scores
    .command("run")
    .description(
      "compute the scores now, while no node runs on the data directory; a node does so each night",
    )
    .action(() =>
      inWriter(context, async (db, { config }) => {
        const { runScores } = await import("../../scores/run.ts");
        const { scoreSettingsOf } = await import("../../scores/settings.ts");
        const { writeScores } = await import("../../db/index/counts/scores.ts");
        const options = { ...scoreSettingsOf(config), nowSecs: nowSecs(), turn };
        const stats = await runScores(db, options, async (step) => writeScores(db, step));
        print(`${JSON.stringify(stats)}\n`);
      }),
    );

  scores
    .command("import")
    .description("replace the imported scores, while no node runs on the data directory")
    .argument("<file>", "the file; - for standard input")
    .addOption(
      new Option("--format <format>", "labels: JSON lines of spam labels; csv: fid,score[,reason]")
        .choices(["labels", "csv"])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--label <value=score>", "the score of a label; may be repeated")
        .argParser(collectLabel)
        .default({}, "0=0.1, 1=0.4, 2=0.8, 3=0"),
    )
    .option("--dry-run", "read the file and change nothing")
    .action(async (file: string, options: ImportOptions) => {
      const { LABEL_SCORES, linesOf, readScores } = await import("../../scores/import.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { format, label, dryRun = false } = options;
      if (file !== "-" && !(await Bun.file(file).exists())) throw new UserError(`no such file: ${file}`);
      const stream = file === "-" ? Bun.stdin.stream() : Bun.file(file).stream();
      const read = await readScores(linesOf(stream), format, { ...LABEL_SCORES, ...label });
      for (const line of read.listed) printError(`skipped ${line}\n`);
      const stats = { accounts: read.rows.length, lines: read.lines, skipped: read.badLines };
      if (dryRun) return print(`${JSON.stringify(stats)}\n`);
      await inWriter(context, async (db) => {
        const { storeRun } = await import("../../scores/run.ts");
        const { writeScores } = await import("../../db/index/counts/scores.ts");
        const run = { kind: "imported", at: nowSecs(), method: format, params: {}, seeds: [] } as const;
        await storeRun({ run, rows: read.rows, stats: () => stats }, async (step) => writeScores(db, step));
        print(`${JSON.stringify(stats)}\n`);
      });
    });

  scores
    .command("export")
    .description("print the computed scores as csv: fid,score")
    .option("--imported", "print the imported ones instead")
    .action(({ imported = false }: { readonly imported?: boolean }) =>
      inReader(context, async (db) => {
        const { allScores, currentScoreRun } = await import("../../db/index/counts/scores.ts");
        const run = currentScoreRun(db, imported ? "imported" : "computed");
        print("fid,score\n");
        if (run) for (const { fid, score } of allScores(db, run.id)) print(`${fid},${score / 100}\n`);
      }),
    );

  scores
    .command("status")
    .description("print the current runs")
    .action(() =>
      inReader(context, async (db, { config }) => {
        const { currentScoreRun } = await import("../../db/index/counts/scores.ts");
        const runOf = (kind: "computed" | "imported") => {
          const run = currentScoreRun(db, kind);
          return run
            ? { id: run.id, at: run.at, method: run.method, seeds: run.seeds.length, ...run.stats }
            : null;
        };
        const report = { mode: config.scores.mode, computed: runOf("computed"), imported: runOf("imported") };
        print(`${JSON.stringify(report, undefined, 2)}\n`);
      }),
    );

  scores
    .command("explain")
    .description("print the score of an fid, where it comes from, and a path to a seed")
    .argument("<fid>", "the account", parseFid)
    .action((fid: number) =>
      inReader(context, async (db, { config }) => {
        const { explainScore } = await import("../../read/queries/users/score.ts");
        const { UserError } = await import("../../lib/failure.ts");
        const { mode, unknown } = config.scores;
        const found = explainScore(db, { mode: mode === "off" ? "both" : mode, unknown }, fid);
        if (!found) throw new UserError(`no user has the fid ${fid}`);
        const { storage: _, run, ...shown } = found;
        const from = run && { id: run.id, at: run.at, method: run.method };
        print(`${JSON.stringify({ ...shown, run: from ?? null }, undefined, 2)}\n`);
      }),
    );

  scores
    .command("simulate")
    .description("compute the scores with other seeds, store nothing, and print how they would move")
    .requiredOption("--seeds <file>", "the fids of the seeds, separated by white space or commas")
    .action(({ seeds: file }: { readonly seeds: string }) =>
      inReader(context, async (db, { config }) => {
        const { simulate } = await import("../../scores/simulate.ts");
        const { scoreSettingsOf } = await import("../../scores/settings.ts");
        const { parseFids } = await import("../client/options.ts");
        const fids = parseFids((await Bun.file(file).text()).trim().replaceAll(/[\s,]+/g, ","));
        const { maxMemoryMb } = scoreSettingsOf(config);
        const options = { maxMemoryMb, nowSecs: nowSecs(), turn };
        const seeds = { seeds: fids, seedsAdd: [], notSeeds: [] };
        print(`${JSON.stringify(await simulate(db, { ...options, seeds }), undefined, 2)}\n`);
      }),
    );
}

interface ImportOptions {
  readonly format: ImportFormat;
  readonly label: Readonly<Record<string, number>>;
  readonly dryRun?: boolean;
}

/** Runs `work` with a writable index. No node may run on the data directory. */
async function inWriter(
  context: CommandContext,
  work: (db: IndexDatabase, loaded: Pick<LoadedConfig, "config">) => Promise<void>,
): Promise<void> {
  const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
  const { indexPath, openIndexWriter } = await import("../../db/index/database.ts");
  const { claimNetwork } = await import("../../db/index/identity.ts");
  const { migrateIndex } = await import("../../node/start/migrate-index.ts");
  const common = createCommon(context);
  context.exitCode = await runTask(common, async () => {
    const dataDir = openTaskDataDir(common);
    await migrateIndex(common, dataDir.path, { always: false });
    using db = openIndexWriter(indexPath(dataDir.path));
    claimNetwork(db, common.config.protocol.network);
    await work(db, common);
    db.checkpoint();
  });
}

/** Runs `work` with a read-only index, with or without a running node. */
async function inReader(
  context: CommandContext,
  work: (db: IndexDatabase, loaded: Pick<LoadedConfig, "config">) => Promise<void>,
): Promise<void> {
  const { createCommon, runTask } = await import("../common.ts");
  const { indexPath, openIndexReader } = await import("../../db/index/database.ts");
  const common = createCommon(context);
  context.exitCode = await runTask(common, async () => {
    using db = openIndexReader(indexPath(common.config.data.dir));
    await work(db, common);
  });
}

const nowSecs = (): number => Math.floor(Date.now() / 1000);

/** Yields, so that the process notices signals. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function parseFid(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError("it is a positive integer.");
  return Number(text);
}

function collectLabel(text: string, before: Readonly<Record<string, number>>): Record<string, number> {
  const found = /^([0-3])=(0(?:\.\d+)?|1(?:\.0+)?)$/.exec(text);
  if (!found)
    throw new InvalidArgumentError("it is a label from 0 to 3 and a score from 0 to 1, such as 0=0.2.");
  return { ...before, [found[1] ?? ""]: Number(found[2]) };
}
