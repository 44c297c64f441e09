import { setImmediate } from "node:timers/promises";
import type { Config } from "../../config/schema.ts";
import { isBulkBuilding } from "../../db/index/bulk/bulk-state.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { lacksFullText, rebuildFullText, turnOffFullText } from "../../db/index/search/full-text.ts";
import { lacksPeople, rebuildPeople } from "../../db/index/search/people-index.ts";
import type { Common } from "../../runtime/common.ts";

/** Reports whether `applyFullText` will build the full-text index. */
export function mustBuildFullText(
  db: IndexDatabase,
  { full_text }: Pick<Config["index"], "full_text">,
): boolean {
  // An index that is being filled gets the full-text index at the end of its build.
  return full_text && lacksFullText(db) && !isBulkBuilding(db);
}

/**
 * Brings the full-text index in line with `index.full_text`, before anything is merged: if switched off, it is no longer written; if
 * switched on again, it is built from the casts. Commands that write casts call this.
 *
 * @throws the reason of the shutdown when it begins; the next call continues.
 */
export async function applyFullText(
  { log, shutdown }: Pick<Common, "log" | "shutdown">,
  db: IndexDatabase,
  { full_text }: Pick<Config["index"], "full_text">,
): Promise<void> {
  db.search.isOn = full_text;
  if (!full_text) return turnOffFullText(db);
  if (!mustBuildFullText(db, { full_text })) return;
  log.info("Building the full-text index");
  const startedMs = performance.now();
  while (rebuildFullText(db)) {
    await setImmediate();
    shutdown.signal.throwIfAborted();
  }
  log.info({ durationMs: Math.round(performance.now() - startedMs) }, "Built the full-text index");
}

/** Reports whether `fillPeople` has work to do. An index that is being filled gets its people index at the end of its build. */
export function mustFillPeople(db: IndexDatabase): boolean {
  return lacksPeople(db) && !isBulkBuilding(db);
}

/**
 * Fills the people index of an index that predates it, before anything is merged. Commands that write messages call this.
 *
 * @throws the reason of the shutdown when it begins; the next call continues.
 */
export async function fillPeople(
  { log, shutdown }: Pick<Common, "log" | "shutdown">,
  db: IndexDatabase,
): Promise<void> {
  if (!mustFillPeople(db)) return;
  log.info("Building the index of people");
  const startedMs = performance.now();
  while (rebuildPeople(db)) {
    await setImmediate();
    shutdown.signal.throwIfAborted();
  }
  log.info({ durationMs: Math.round(performance.now() - startedMs) }, "Built the index of people");
}
