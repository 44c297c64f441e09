import { setImmediate } from "node:timers/promises";
import { isBulkBuilding } from "../../db/index/bulk/bulk-state.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { lacksPeople, rebuildPeople } from "../../db/index/search/people-index.ts";
import type { Common } from "../../runtime/common.ts";

/** Whether `fillPeople` has work to do. An index that is being filled gets its index of people with its build. */
export function mustFillPeople(db: IndexDatabase): boolean {
  return lacksPeople(db) && !isBulkBuilding(db);
}

/**
 * Fills the index of people of an index that is older than it, before anything is merged. Commands that write messages call it.
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
