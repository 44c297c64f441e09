import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `state migrate`: brings the schema in PostgreSQL up to date, for nodes with `state.migrate = false`. */
export function registerStateMigrate(state: Command, context: CommandContext): void {
  state
    .command("migrate")
    .description("bring the schema of the state in PostgreSQL up to date, while nodes run")
    .action(async () => {
      const { createCommon, runTask } = await import("./common.ts");
      const { migratePostgres } = await import("../db/postgres/migrate.ts");
      const { UserError } = await import("../lib/failure.ts");
      const { postgresSettings } = await import("../node/state/postgres-settings.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const settings = postgresSettings(common.config);
        if (!settings) throw new UserError("state.url is empty: `svc migrate` migrates state.db");
        const { applied } = await migratePostgres(settings);
        print(
          applied === 0 ? "The schema is up to date\n" : `The schema was brought up to date (${applied})\n`,
        );
      });
    });
}
