import type { Command } from "commander";
import { UserError } from "../lib/failure.ts";
import { printableLines } from "../lib/text.ts";
import { buildDate, commit, programName, version } from "../version.ts";
import { print } from "./output.ts";

const DOWNLOAD_VARIABLE = "SVC_DOWNLOAD_URL";
const MAX_NOTE_LINES = 60;

interface VersionOptions {
  readonly json?: boolean;
  readonly check?: boolean;
  readonly from?: string;
}

/** `version`: prints the build; with `--check` also the newest release in a place. */
export function registerVersion(program: Command): void {
  program
    .command("version")
    .description("print version, commit, build date and runtime")
    .option("--json", "print a JSON object")
    .option("--check", "print the newest release and its notes instead; nothing is downloaded or installed")
    .option("--from <url>", `with --check: the folder of the newest release (${DOWNLOAD_VARIABLE})`)
    .action(async ({ json = false, check = false, from }: VersionOptions) => {
      if (check) return await checkNewest(from ?? process.env[DOWNLOAD_VARIABLE], json);
      if (from !== undefined) throw new UserError("--from needs --check");
      const build = {
        version,
        commit,
        built: buildDate,
        bun: Bun.version,
        platform: `${process.platform}-${process.arch}`,
      };
      if (json) return print(`${JSON.stringify(build)}\n`);
      const { version: release, ...rest } = build;
      const lines = Object.entries(rest).map(([name, value]) => `${name.padEnd(8)} ${value}`);
      print(`${[`${programName} ${release}`, ...lines].join("\n")}\n`);
    });
}

async function checkNewest(from: string | undefined, json: boolean): Promise<void> {
  const { newestRelease } = await import("./client/newest-release.ts");
  if (from === undefined)
    throw new UserError(`pass the release URL with --from, or set ${DOWNLOAD_VARIABLE}`);
  const { newest, isNewer, notes } = await newestRelease(from, version);
  if (json) return print(`${JSON.stringify({ version, newest, is_newer: isNewer, notes })}\n`);
  if (!isNewer)
    return print(`${programName} ${version} is the newest release (${newest} is at ${new URL(from).host})\n`);
  const lines = printableLines(notes ?? "").split("\n");
  const cut = lines.length > MAX_NOTE_LINES ? [...lines.slice(0, MAX_NOTE_LINES), "…"] : lines;
  print(`${programName} ${newest} is newer than ${version}\n\n${cut.join("\n").trim()}\n`);
}
