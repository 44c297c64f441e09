import type { Command } from "commander";
import { buildDate, commit, programName, version } from "../version.ts";
import { print } from "./output.ts";

/** `version`: prints the build. */
export function registerVersion(program: Command): void {
  program
    .command("version")
    .description("print version, commit, build date and runtime")
    .option("--json", "print a JSON object")
    .action(({ json = false }: { json?: boolean }) => {
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
