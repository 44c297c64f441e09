import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { isFollowing } from "../../config/upstream-urls.ts";
import { indexPath, indexVersion, openIndexAsIs, openIndexWriter } from "../../db/index/database.ts";
import { claimNetwork, claimSource, isDemo, mayLackState } from "../../db/index/identity.ts";
import type { SqliteConnection } from "../../db/sqlite/connection.ts";
import { findLostLog } from "../../db/sqlite/lost-log.ts";
import { QUICKLY_CHECKED_BYTES } from "../../db/sqlite/statement-connection.ts";
import { type DatabaseFile, type DatabaseName, recoveryOf } from "../../db/sqlite/storage-error.ts";
import { openState, statePath } from "../../db/state/database.ts";
import { refuseEarlierRequests } from "../../db/state/state-clock.ts";
import { nextImport } from "../../import/next-import.ts";
import { refusalOfUnfinished } from "../../import/resume.ts";
import type { RefusalClass } from "../../import/summary.ts";
import { UserError } from "../../lib/failure.ts";
import { networkOf } from "../../protocol/network/network.ts";
import { nowSecs } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import { postgresSettings } from "../state/postgres/postgres-settings.ts";
import { applyFullText, fillPeople, mustBuildFullText, mustFillPeople } from "./full-text.ts";
import { dropLeftovers } from "./leftovers.ts";
import { migrateIndex } from "./migrate-index.ts";
import type { Starting } from "./starting.ts";

export interface PrepareOptions {
  /** Fills an empty index with the demo network. */
  readonly demo: boolean;
  /** Starts with an empty state even if the index has data. */
  readonly newState: boolean;
  /** First migrates an index of an older format, however large it is. */
  readonly migrate: boolean;
  /** Shows work that may take long. */
  readonly starting: Pick<Starting, "show">;
}

/**
 * Creates or migrates the databases before the workers open them. Returns what an import of this start refused.
 *
 * @throws the reason of the shutdown when it begins.
 */
export async function prepareDatabases(
  common: Common,
  { demo, newState, migrate, starting }: PrepareOptions,
): Promise<readonly RefusalClass[]> {
  const { config, log, clock, shutdown } = common;
  const follows = isFollowing(config);
  if (demo && follows)
    throw new UserError(
      "--demo creates its own network, but upstream.url follows another: remove one of them",
    );
  const postgres = postgresSettings(config);
  if (demo && postgres)
    throw new UserError("--demo is a node by itself, but state.url shares its state: remove one of them");
  if (postgres) {
    const { migratePostgres } = await import("../../db/postgres/migrate.ts");
    await migratePostgres(postgres, { may: config.state.migrate });
  }
  const path = indexPath(config.data.dir);
  reportLostLog(common, { database: "index", file: path });
  const isStateOlder =
    !postgres && reportLostLog(common, { database: "state", file: statePath(config.data.dir) });
  await migrateIndex(common, config.data.dir, { always: migrate, onProgress: starting.show });
  dropLeftovers(config.data.dir);
  if (isOlder(path)) await starting.show({ task: "migrating the index" });
  using db = openIndexWriter(path);
  refuseDamage(db);
  claimNetwork(db, config.protocol.network);
  claimSource(db, { follows });
  if (mustBuildFullText(db, config.index)) await starting.show({ task: "building the full-text index" });
  await applyFullText(common, db, config.index);
  if (mustFillPeople(db)) await starting.show({ task: "building the index of people" });
  await fillPeople(common, db);
  const toImport = follows || demo ? undefined : nextImport(config.data.dir);
  const unfinished = toImport === undefined ? refusalOfUnfinished(db, { follows }) : undefined;
  if (unfinished !== undefined) throw new UserError(unfinished);
  // Done before the index gets any data, so that an index with data but no state means that the state was lost.
  if (!postgres) {
    using state = openState(statePath(config.data.dir), { mayCreate: newState || mayLackState(db) });
    refuseDamage(state);
    if (isStateOlder)
      state.transaction(() =>
        refuseEarlierRequests(state, nowSecs(clock) + config.auth.signed_at_window_secs),
      );
  }
  let refused: readonly RefusalClass[] = [];
  if (toImport !== undefined) {
    const { runNextImport } = await import("./import-file.ts");
    refused = await runNextImport(common, db, { path: toImport, starting });
  }
  if (demo) {
    // A dynamic import, so that other starts do not load the code that generates and signs the network.
    const { fillWithDemo, mayFillWithDemo } = await import("../../demo/network.ts");
    if (mayFillWithDemo(db)) {
      log.info("Filling the index with the demo network");
      const startedMs = performance.now();
      const network = networkOf(config.protocol.network);
      const records = await fillWithDemo({ db, network, clock, signal: shutdown.signal });
      const durationMs = Math.round(performance.now() - startedMs);
      log.info({ records, durationMs }, "Filled the index with the demo network");
    }
  }
  if (isDemo(db)) log.warn("This data directory holds the demo network, whose keys are public");
  // Signals that arrived while this work blocked the thread are handled now.
  await setImmediate();
  shutdown.signal.throwIfAborted();
  return refused;
}

const LOST: Readonly<Record<DatabaseName, string>> = {
  index:
    "A node that follows another reads the changes from there again; what was submitted to this node alone is lost",
  state:
    "Requests that were signed before now are refused, and sessions have ended. Restore a newer backup if there is one",
};

/** Logs what a database has lost with its write-ahead log, before the first connection. Returns whether it lost anything. */
function reportLostLog({ log }: Common, { database, file }: DatabaseFile): boolean {
  const lost = findLostLog(file);
  if (lost)
    log.error(
      {
        database,
        pages: lost.pages,
        lastUsedAt: new Date(lost.usedAtMs).toISOString(),
        remedy: LOST[database],
      },
      `The write-ahead log of the ${database} was cut or deleted before this start: its last changes are lost`,
    );
  return lost !== undefined;
}

function isOlder(path: string): boolean {
  if (!existsSync(path)) return false;
  using index = openIndexAsIs(path);
  return indexVersion(index) === "older";
}

/** Refuses a database with damaged pages. Reads only a part of a large one. @throws UserError with the remedy. */
function refuseDamage(db: SqliteConnection): void {
  const lines = db.damage({ maxBytes: QUICKLY_CHECKED_BYTES });
  if (lines.length === 0) return;
  throw new UserError(
    `${db.file} is damaged:\n${lines.map((line) => `  ${line}`).join("\n")}\n${recoveryOf(db)}.`,
  );
}
