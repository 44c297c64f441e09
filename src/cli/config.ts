import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `config print|check|defaults`: prints the current settings, validates them, prints the defaults. */
export function registerConfig(program: Command, context: CommandContext): void {
  const config = program.command("config").description("show and check the settings");

  config
    .command("print")
    .description("print the settings in force with their sources, secrets masked")
    .option("--json", "print a JSON object without the sources")
    .action(async ({ json = false }: { json?: boolean }) => {
      const { readConfig } = await import("./common.ts");
      const { maskConfig } = await import("../config/load.ts");
      const { toToml } = await import("../config/values.ts");
      const loaded = readConfig(context);
      const shown = maskConfig(loaded.config);
      print(json ? `${JSON.stringify(shown, null, 2)}\n` : toToml(shown, (key) => loaded.sources.get(key)));
    });

  config
    .command("check")
    .description("check the settings and report all errors")
    .action(async () => {
      const { readConfigAsWritten } = await import("./common.ts");
      const { file } = readConfigAsWritten(context);
      print(`The settings are valid (${file ?? "no settings file"}).\n`);
    });

  config
    .command("defaults")
    .description("print every setting with its default and what it does")
    .action(async () => {
      const { defaultConfigText } = await import("../config/load.ts");
      print(defaultConfigText());
    });
}
