import type { Command } from "commander";
import type { RestoredKeys } from "../../node/snapshot/restored-keys.ts";
import type { StateFinding } from "../../node/state/verify.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

/** `state check`: recounts totals and counters of the state; `--restored` makes a restored one safe to use. */
export function registerStateCheck(state: Command, context: CommandContext): void {
  state
    .command("check")
    .description("recount the totals and counters of the state; exit 1 on a difference")
    .option(
      "--restored",
      "after a restore by other tools: refuse earlier requests, end leases, correct counters. The nodes must be stopped",
    )
    .action(async ({ restored = false }: { restored?: boolean }) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { migratePostgres } = await import("../../db/postgres/migrate.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
      const { checkPostgresState, settlePostgresState } = await import(
        "../../node/state-check/postgres-check.ts"
      );
      const { checkSqliteState, settleSqliteState } = await import("../../node/state-check/sqlite-check.ts");
      const { restoredKeysText, restoredPostgresKeys, restoredSqliteKeys } = await import(
        "../../node/snapshot/restored-keys.ts"
      );
      const { nowSecs } = await import("../../runtime/clock.ts");
      const { openTaskDataDir } = await import("../common.ts");
      const common = createCommon(context);
      const { config, clock } = common;
      context.exitCode = await runTask(common, async () => {
        const nonceFloor = nowSecs(clock) + config.auth.signed_at_window_secs;
        const postgres = postgresSettings(config);
        let findings: readonly StateFinding[];
        let keys: RestoredKeys | undefined;
        if (postgres) {
          // A check of the wrong database or schema must not create an empty state and find it sound.
          await migratePostgres(postgres, { may: false });
          if (restored) await settlePostgresState(postgres, { nonceFloor });
          findings = await checkPostgresState(postgres);
          if (restored) keys = await restoredPostgresKeys(postgres);
        } else if (restored) {
          const dataDir = openTaskDataDir(common);
          findings = settleSqliteState(dataDir.path, { nonceFloor });
          keys = restoredSqliteKeys(dataDir.path);
        } else {
          findings = checkSqliteState(config.data.dir);
        }
        if (keys) print(`${SETTLED}${restoredKeysText(keys)}`);
        if (findings.length > 0)
          throw new UserError(
            `the state contradicts itself:\n${findings.map(({ what, rows }) => `  ${what} (${rows})`).join("\n")}`,
          );
        print("The state satisfies its invariants.\n");
      });
    });
}

const SETTLED = `Requests that were signed before now are refused, leases and runs have ended, and counters were counted again.
`;
