import type { Config } from "../../config/schema.ts";
import { migratePostgres } from "../../db/postgres/migrate.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { postgresSettings } from "../../node/state/postgres-settings.ts";
import type { Check } from "./checks.ts";
import { fail, ok } from "./finding.ts";

const OLDER_SCHEMA = "svc state migrate";

/** Whether the state in PostgreSQL can be reached, and has the schema of this release. Nothing is changed. */
export const postgresCheck = (config: Config): Check => ({
  name: "PostgreSQL",
  run: async () => {
    if (config.state.url === "") return [];
    const check = "PostgreSQL";
    try {
      const settings = postgresSettings(config);
      if (settings) await migratePostgres(settings, { may: false });
      return [ok(check, "answers, and has the schema of this release")];
    } catch (cause) {
      const reason = reasonOf(cause);
      const isOlder = cause instanceof UserError && reason.includes(OLDER_SCHEMA);
      if (isOlder && config.state.migrate)
        return [ok(check, "answers; the node creates its schema, or brings it up to date, at the start")];
      return [
        fail(
          check,
          reason,
          isOlder ? "Run it, or set state.migrate = true" : "Correct what the reason names",
        ),
      ];
    }
  },
});
