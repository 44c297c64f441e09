import { existsSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { type IndexDatabase, indexPath, indexVersion, openIndexAsIs } from "../../db/index/database.ts";
import { mayLackState, refusalOfNetwork, refusalOfSource } from "../../db/index/identity.ts";
import { migratePostgres } from "../../db/postgres/migrate.ts";
import type { SqliteConnection } from "../../db/sqlite/connection.ts";
import type { SchemaVersion } from "../../db/sqlite/schema-version.ts";
import { QUICKLY_CHECKED_BYTES } from "../../db/sqlite/statement-connection.ts";
import {
  asStorageError,
  type DatabaseName,
  recoveryOf,
  StorageError,
} from "../../db/sqlite/storage-error.ts";
import { openStateAsIs, statePath, stateVersion } from "../../db/state/database.ts";
import { refusalOfUnfinished } from "../../import/resume.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { postgresSettings } from "../../node/state/postgres/postgres-settings.ts";
import { degradedReasons, engineProgressOf } from "../../upstream/follow/engine-watch.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";
import type { Place } from "./place.ts";

type DatabaseSettings = Pick<Config, "protocol" | "state" | "upstream">;

/**
 * Checks whether the databases are intact and of this version, and whether the node would start with them. They are opened even while a
 * node runs, and not changed.
 */
export function lookIntoDatabases(config: DatabaseSettings, { dir }: Place): Finding[] {
  const { state } = config;
  const findings: Finding[] = [];
  const index = indexPath(dir);
  let lacksState = false;
  if (!existsSync(index)) findings.push(ok("index", "does not exist yet; the node creates it"));
  else
    findings.push(
      lookInto("index", index, () => {
        using db = openIndexAsIs(index);
        const version = indexVersion(db);
        const found = assess(db, version);
        if (version !== "current" || found.level !== "ok") return found;
        const refusal = refusalOfIndex(db, config);
        if (refusal !== undefined) return fail("index", refusal, "Fix the cause");
        lacksState = !mayLackState(db);
        const lacks = degradedReasons(engineProgressOf(db));
        return lacks.length === 0
          ? found
          : warn("index", lacks.join("; "), "Upgrade, or wait for the node to read it");
      }),
    );
  // The state is in PostgreSQL.
  if (state.url !== "") return findings;
  const file = statePath(dir);
  if (existsSync(file))
    findings.push(
      lookInto("state", file, () => {
        using db = openStateAsIs(file);
        return assess(db, stateVersion(db));
      }),
    );
  else if (lacksState)
    findings.push(
      fail(
        "state",
        `${file} is missing; the node does not start with a filled index and no state`,
        "Restore it from a backup, or start once with --new-state to begin with an empty one",
      ),
    );
  return findings;
}

/** Returns why the node does not start with an intact index; undefined if it does. */
function refusalOfIndex(db: IndexDatabase, { protocol, upstream }: DatabaseSettings): string | undefined {
  const follows = isFollowing({ upstream });
  return (
    refusalOfNetwork(db, protocol.network) ??
    refusalOfSource(db, { follows }) ??
    refusalOfUnfinished(db, { follows })
  );
}

function lookInto(check: DatabaseName, file: string, look: () => Finding): Finding {
  try {
    return look();
  } catch (cause) {
    const fault = asStorageError({ database: check, file }, cause);
    if (fault instanceof StorageError && fault.isDamage)
      return fail(check, `${file} is damaged: ${fault.reason}`, recoveryOf(fault));
    return fail(check, `${file} cannot be opened: ${reasonOf(cause)}`, "Fix the cause");
  }
}

/** Assesses a database by its pages and its version. */
export function assess(db: SqliteConnection, version: SchemaVersion): Finding {
  const { database: check, file } = db;
  const [damage] = db.damage({ maxBytes: QUICKLY_CHECKED_BYTES });
  if (damage !== undefined) return fail(check, `${file} is damaged: ${damage}`, recoveryOf(db));
  switch (version) {
    case "newer":
      return fail(
        check,
        `${file} was written by a newer version of this program`,
        "Run the newer version, or restore what was there before the upgrade",
      );
    case "older format":
      return warn(
        check,
        `${file} has the format of an earlier version; the node serves nothing until it is migrated`,
        "Run `svc migrate`, or start with `svc serve --migrate`",
      );
    case "older":
      return ok(check, `${file}: earlier version; the next start migrates it`);
    default: {
      const intact = db.sizeBytes() > QUICKLY_CHECKED_BYTES ? "small tables intact" : "intact";
      return ok(check, `${file}: current version, ${intact}`);
    }
  }
}

const OLDER_SCHEMA = "svc state migrate";

/** Checks whether the state in PostgreSQL can be reached and has the schema of this release. Nothing is changed. */
export const postgresCheck = (config: Config): Check => ({
  name: "PostgreSQL",
  run: async () => {
    if (config.state.url === "") return [];
    const check = "PostgreSQL";
    try {
      const settings = postgresSettings(config);
      if (settings) await migratePostgres(settings, { may: false });
      return [ok(check, "responds; the schema is current")];
    } catch (cause) {
      const reason = reasonOf(cause);
      const isOlder = cause instanceof UserError && reason.includes(OLDER_SCHEMA);
      if (isOlder && config.state.migrate)
        return [ok(check, "responds; the node creates or updates its schema at startup")];
      return [fail(check, reason, isOlder ? "Run it, or set state.migrate = true" : "Fix the cause")];
    }
  },
});
